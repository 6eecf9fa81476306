"""Rewards of a selection of memories, as ``Value`` for training.

====================  ===========================================  ==================  =========
class                 worth of a selection                         unit                from
====================  ===========================================  ==================  =========
``AnswerValue``       the product's answer against the reference   token F1, 0 to 1    EMG-RAG 3
``LikelihoodValue``   likelihood of the reference                  nats a token        PURPLE 4
``EntropyValue``      certainty of the answer; needs no reference  nats a token        RUMS 3.3
``Mixture``           several of them, each in its own spread      spreads             -
====================  ===========================================  ==================  =========

Each is a gain over the empty selection, which is worth 0, less a price for each memory: of two
selections that serve alike the smaller one is worth more, and it costs the answer fewer tokens.
Prompts are the product's own (``agent.answering.answer.build_turns``); all selections of an episode
go to the engine in one call, which reads the instructions and what the selections share once.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from agent.answering.answer import answer, build_turns
from agent.language.injection import steers
from agent.learning.answer_agreement import token_f1
from agent.models.reward_cache import RewardCache, key
from agent.ports import ChatTurn, LanguageModel, RewardModel
from policies.base import Episode, Value
from policies.selection import Choice

KINDS = ("answer", "likelihood", "entropy", "both")
"""What ``train --reward`` takes; both is answer and entropy."""

ANSWER_PRICE = 0.02
LIKELIHOOD_PRICE = 0.02
ENTROPY_PRICE = 0.01
MIXTURE_PRICE = 0.02
"""Of one memory, in the unit of each. A memory that helps gives many times as much; one that
changes nothing must not be free."""

References = Mapping[str, str]
"""Reference answers by the key of their episode."""


def choices_of(episode: Episode, ids: Sequence[str]) -> list[Choice]:
    """The selection as the answer step gets it; what gives orders to an assistant is left out."""
    memories = (episode.view.memories[episode.view.row[memory]] for memory in ids)
    return [Choice(memory, 1.0) for memory in memories if not steers(memory.text)]


def prompt_of(episode: Episode, ids: Sequence[str]) -> tuple[ChatTurn, ...]:
    """The product's prompt for the question with these memories."""
    asked = episode.question
    return build_turns(asked.text, choices_of(episode, ids), asked.now)


def _gains(
    worth: Sequence[float], selections: Sequence[tuple[str, ...]], price: float
) -> list[float]:
    """Of the empty selection's worth, which comes first, and of those of ``selections``."""
    bare, *found = worth
    return [w - bare - price * len(ids) for w, ids in zip(found, selections, strict=True)]


@dataclass(frozen=True, slots=True)
class LikelihoodValue:
    """Mean log-likelihood a token of the reference answer (PURPLE equation 4)."""

    rewards: RewardModel
    references: References
    price: float = LIKELIHOOD_PRICE

    def __call__(self, episode: Episode, selections: Sequence[tuple[str, ...]]) -> Sequence[float]:
        prompts = [prompt_of(episode, ids) for ids in ((), *selections)]
        reference = self.references[episode.key]
        scores = self.rewards.log_likelihood(prompts, [reference] * len(prompts))
        return _gains([float(score.mean()) for score in scores], selections, self.price)


@dataclass(frozen=True, slots=True)
class EntropyValue:
    """Fall of the mean entropy a token of sampled answers (RUMS equation 3)."""

    rewards: RewardModel
    price: float = ENTROPY_PRICE

    def __call__(self, episode: Episode, selections: Sequence[tuple[str, ...]]) -> Sequence[float]:
        prompts = [prompt_of(episode, ids) for ids in ((), *selections)]
        found = self.rewards.entropy(prompts)
        return _gains([-entropy.mean for entropy in found], selections, self.price)


@dataclass(frozen=True, slots=True)
class AnswerValue:
    """The metric of the product's answer against the reference (EMG-RAG equations 3 and 4).

    An abstention, which is what the product says without memories, is worth 0. ``cache`` keeps the
    metric by model, prompt and reference, so that no answer is generated twice; like all of that
    file it holds no text. Generation is what costs here: seconds a selection.
    """

    llm: LanguageModel
    references: References
    price: float = ANSWER_PRICE
    cache: RewardCache | None = None

    def __call__(self, episode: Episode, selections: Sequence[tuple[str, ...]]) -> Sequence[float]:
        reference = self.references[episode.key]
        identity = self.llm.identity if self.cache else ""
        keys = [
            key(identity, "answer token_f1", _bytes(prompt_of(episode, ids)), reference.encode())
            for ids in selections
        ]
        known = self.cache.find(keys) if self.cache else [None] * len(keys)
        worth = [0.0]
        for ids, name, found in zip(selections, keys, known, strict=True):
            if found is None:
                worth.append(self._metric_of(episode, ids, reference))
                if self.cache:
                    self.cache.keep({name: np.array([worth[-1]])})
            else:
                worth.append(float(found[0]))
        return _gains(worth, selections, self.price)

    def _metric_of(self, episode: Episode, ids: Sequence[str], reference: str) -> float:
        asked, view = episode.question, episode.view
        near = {m: float(np.clip(view.vectors[view.row[m]] @ asked.vector, 0, 1)) for m in ids}
        chosen = choices_of(episode, ids)
        said = answer(asked.text, chosen, now=asked.now, llm=self.llm, near=near)
        return 0.0 if said.abstained else token_f1(said.text, reference)


Part = AnswerValue | LikelihoodValue | EntropyValue
"""What a mixture is made of."""


@dataclass(frozen=True, slots=True)
class Mixture:
    """The mean of several values, each divided by its ``spread``; see ``mixed``."""

    parts: Sequence[Part]
    spreads: Sequence[float]

    def __call__(self, episode: Episode, selections: Sequence[tuple[str, ...]]) -> Sequence[float]:
        found = [
            np.asarray(part(episode, selections)) / spread
            for part, spread in zip(self.parts, self.spreads, strict=True)
        ]
        paid = MIXTURE_PRICE * np.array([len(ids) for ids in selections])
        return [float(worth) for worth in np.mean(found, axis=0) - paid]


def mixed(parts: Sequence[Part], probes: Sequence[tuple[Episode, tuple[str, ...]]]) -> Mixture:
    """A mixture in which each part weighs alike: in units of its spread over ``probes``.

    The spread is the root mean square of the gains; measured once, before a training, so that the
    same selection is worth the same in every step of it.
    """
    free = [replace(part, price=0.0) for part in parts]
    spreads = []
    for part in free:
        gains = [part(episode, [ids])[0] for episode, ids in probes]
        spread = math.sqrt(sum(gain * gain for gain in gains) / max(1, len(gains)))
        spreads.append(spread if spread > 1e-6 else 1.0)
    return Mixture(free, spreads)


@dataclass(slots=True)
class Watched:
    """A value that notes which memories took part, for what is forgotten later, and how many
    selections were asked for."""

    value: Value
    memories: set[str] = field(default_factory=set)
    asked: int = 0

    def __call__(self, episode: Episode, selections: Sequence[tuple[str, ...]]) -> Sequence[float]:
        self.asked += len(selections)
        self.memories.update(memory for ids in selections for memory in ids)
        return self.value(episode, selections)


def reward_of(
    kind: str,
    *,
    llm: LanguageModel,
    rewards: RewardModel,
    references: References,
    cache: RewardCache | None,
    probes: Sequence[tuple[Episode, tuple[str, ...]]] = (),
) -> Value:
    """The value of a name of ``KINDS``; ``probes`` give a mixture its spreads."""
    by_answer = AnswerValue(llm, references, cache=cache)
    by_entropy = EntropyValue(rewards)
    match kind:
        case "answer":
            return by_answer
        case "likelihood":
            return LikelihoodValue(rewards, references)
        case "entropy":
            return by_entropy
        case "both":
            return mixed([by_answer, by_entropy], probes)
    raise ValueError(f"no reward {kind!r}")


def needs_reference(kind: str) -> bool:
    """Whether an episode without a reference answer cannot be valued so."""
    return kind != "entropy"


def _bytes(turns: Collection[ChatTurn]) -> bytes:
    return "\x1e".join(f"{turn.role}\x1f{turn.content}" for turn in turns).encode()
