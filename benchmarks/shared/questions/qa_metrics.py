"""What an answer and a selection are worth: ROUGE, BLEU, exact match, token F1, evidence F1.

Every figure is in [0, 1]. Of several references the one that fits best counts. Chinese and
Japanese text is compared by character, everything else by word.

The two scorers are packages of the extra ``test``; they load when first used.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from agent.learning import answer_agreement
from agent.learning.answer_agreement import tokens

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}_]+")


@dataclass(frozen=True, slots=True)
class Overlap:
    """ROUGE F-measures (Lin, 2004), stemmed, of unigrams, bigrams and the longest subsequence."""

    rouge1: float
    rouge2: float
    rouge_l: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """How well chosen memories agree with the required ones."""

    precision: float
    recall: float
    f1: float


def words(text: str) -> list[str]:
    """Lower-case words, of Chinese and Japanese the characters, without punctuation."""
    return _WORD.findall(text.lower())


def exact(said: str, references: Sequence[str]) -> float:
    """1 if the answer is one of the references, word for word, case and articles aside."""
    return float(any(tokens(said) == tokens(one) for one in references))


def token_f1(said: str, references: Sequence[str]) -> float:
    """SQuAD's F1 of the words of the answer (Rajpurkar et al., 2016); 0 without a reference."""
    return max((answer_agreement.token_f1(said, one) for one in references), default=0.0)


def rouge(said: str, references: Sequence[str]) -> Overlap:
    """ROUGE-1, 2 and L of the answer; zeros without a reference."""
    if not references:
        return Overlap(0.0, 0.0, 0.0)
    scores = _rouge_scorer().score_multi(references, said)
    return Overlap(*(float(scores[name].fmeasure) for name in ("rouge1", "rouge2", "rougeL")))


def bleu(said: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Corpus BLEU (sacrebleu) of answers, each with at least one reference; 0 for no answers."""
    if not said:
        return 0.0
    from sacrebleu.metrics.bleu import BLEU

    chinese = any(re.search(f"[{_CJK}]", one) for some in references for one in some)
    most = max(map(len, references))
    # sacrebleu takes streams of references; a sentence with fewer has an empty one in the rest.
    streams = [[some[n] if n < len(some) else "" for some in references] for n in range(most)]
    score = BLEU(tokenize="zh" if chinese else "13a").corpus_score(list(said), streams)
    return float(score.score) / 100


def evidence(chosen: Collection[str], required: Collection[str]) -> Evidence:
    """Choosing nothing where nothing is required is right."""
    if not chosen or not required:
        right = float(not chosen and not required)
        return Evidence(right, right, right)
    hits = len(set(chosen) & set(required))
    precision, recall = hits / len(set(chosen)), hits / len(set(required))
    return Evidence(precision, recall, 2 * hits / (len(set(chosen)) + len(set(required))))


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation over seeds; the latter is 0 for one."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def over_seeds(runs: Sequence[Mapping[str, float | int | None]]) -> dict[str, float | int | None]:
    """Mean of each figure over the seeds, and its standard deviation as ``_sd``."""
    by_key: dict[str, list[float]] = {}
    for run in runs:
        for key, value in run.items():
            if value is not None:
                by_key.setdefault(key, []).append(float(value))
    figures: dict[str, float | int | None] = {}
    for key, values in by_key.items():
        figures[key], figures[f"{key}_sd"] = spread(values)
    return figures


class _Score(Protocol):
    fmeasure: float


class _Rouge(Protocol):
    """What is used of rouge-score, which has no types."""

    def score_multi(self, targets: Sequence[str], prediction: str) -> Mapping[str, _Score]: ...


@cache
def _rouge_scorer() -> _Rouge:
    from rouge_score.rouge_scorer import RougeScorer

    scorer: _Rouge = RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=_Stemmed())
    return scorer


class _Stemmed:
    """The words that ROUGE counts: rouge-score's own tokenizer drops all that is not ASCII."""

    def __init__(self) -> None:
        from nltk.stem.porter import PorterStemmer

        self._stemmer = PorterStemmer()

    def tokenize(self, text: str) -> list[str]:
        # As rouge-score does, words of up to three letters stay as they are.
        return [self._stemmer.stem(word) if len(word) > 3 else word for word in words(text)]
