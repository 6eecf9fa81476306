"""Makes the weights of ``agent.answering.question.parts``.

``python -m benchmarks.question_parts_train`` learns to tell messages that ask several things from
those that ask one. It learns from ``samples/question_parts.jsonl`` without the voices of ``HELD``,
and from questions of our voices, alone and two of one voice joined. The figures are those of
weights that did not see the voices they are measured on; what ships learns from the same.

With ``--split`` the language model splits the messages of the held voices: *parts* is the share
of messages of which as many questions come out as the writer asked, *kept* the share of those with
one question that stay as they are.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from agent.answering.question.parts import SEVERAL, WEIGHTS, questions_in
from agent.config import load_config
from agent.session.session import Session, open_session
from benchmarks.quality.answers.changes.changes_data import HELD_VOICES
from benchmarks.shared.common import SAMPLES, parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers
from benchmarks.training.reader.reader_data import VOICES, read_episodes
from benchmarks.training.routing_train import wording_matrix

BANK = SAMPLES / "question_parts.jsonl"
HELD = ("polish", "voicenote", "writer", "courier")
JOINS = (" and ", ", and ", " n ", " & ", ", ", "? ", ". ", " also ", "? And ", "; ", " + ", "\n")
STRENGTH = 3.0
"""The inverse of the regularization."""
WRITTEN = 4.0
"""What a message that somebody wrote as it is weighs beside one that was joined."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A message, and the questions it asks by whoever wrote it."""

    voice: str
    text: str
    parts: int
    weight: float


def bank() -> Iterator[Asked]:
    """The messages that were written for this."""
    for line in BANK.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield Asked(row["voice"], row["text"], len(row["parts"]), WRITTEN)


def joined(questions: dict[str, list[str]], seed: int) -> Iterator[Asked]:
    """Each question alone, and two or three of one voice as one message."""
    chance = random.Random(seed)
    for voice, own in sorted(questions.items()):
        for question in own:
            yield Asked(voice, question, 1, 1.0)
            count = chance.choice((2, 2, 2, 3))
            several = [question, *chance.sample(own, min(count - 1, len(own)))]
            text = several[0]
            for other in several[1:]:
                text = _join(text, other, chance)
            yield Asked(voice, text, len(several), 1.0)


def _join(one: str, other: str, chance: random.Random) -> str:
    join = chance.choice(JOINS)
    if not join.startswith(("?", ".")) or one[-1] not in "?.!":
        one = one.rstrip("?.!") if chance.random() < 0.8 else one
    else:
        join = join[1:]
    small = other[:1].lower() + other[1:] if not other.startswith(("I ", "I'")) else other
    return f"{one}{join}{small if join.strip() not in ('?', '.', '') else other}"


def questions_of(folder: Path) -> dict[str, list[str]]:
    """The questions of episodes, by voice."""
    found: dict[str, list[str]] = defaultdict(list)
    for episode in read_episodes(folder):
        found[episode.voice].append(episode.question)
    return found


def main() -> None:
    options = parser("question_parts_train", __doc__ or "")
    options.add_argument("--split", action="store_true", help="let the language model split, too")
    given = options.parse_args()
    written = list(bank())
    train = [one for one in written if one.voice not in HELD]
    train += joined(questions_of(VOICES), 0)
    held = [one for one in written if one.voice in HELD]
    pairs = list(joined(questions_of(HELD_VOICES), 1))
    if given.quick:
        train = train[::8]
    with open_session(load_config()) as models:
        progress(f"{len(train)} messages to learn from, {len(held)} and {len(pairs)} held out")
        embedder = models.trained

        def inputs(rows: Sequence[Asked]) -> sparse.csr_matrix:
            texts = [row.text for row in rows]
            return sparse.hstack([embedder.encode(texts), wording_matrix(texts)]).tocsr()

        model = LogisticRegression(C=STRENGTH, max_iter=3000)
        model.fit(
            inputs(train),
            [row.parts > 1 for row in train],
            sample_weight=[row.weight for row in train],
        )
        figures: dict[str, float | int | None] = {"n_train": len(train)}
        for name, rows in (("written", held), ("joined", pairs)):
            chances = model.predict_proba(inputs(rows))[:, 1]
            several = np.array([row.parts > 1 for row in rows])
            figures |= {
                f"{name}.n": len(rows),
                f"{name}.auc": float(roc_auc_score(several, chances)),
                f"{name}.found": float((chances[several] >= SEVERAL).mean()),
                f"{name}.false": float((chances[~several] >= SEVERAL).mean()),
            }
        if not given.quick:
            np.savez_compressed(
                WEIGHTS,
                encoder=embedder.identity,
                meaning=model.coef_[0, : embedder.dimension].astype(np.float32),
                wording=model.coef_[0, embedder.dimension :].astype(np.float16),
                bias=np.float32(model.intercept_[0]),
            )
        if given.split:
            figures |= split(held[:6] if given.quick else held, models)
    config = {"quick": given.quick, "held": list(HELD), "split": given.split}
    write_results("question_parts_train", config, [0, 1], figures)


def split(rows: Sequence[Asked], models: Session) -> dict[str, float | int | None]:
    """What the language model makes of the messages that the weights take to ask several things."""
    llm = KeptAnswers(models.llm)
    right: dict[bool, list[bool]] = {True: [], False: []}
    for row in rows:
        parts = questions_in(row.text, models.trained, models.statements, llm)
        right[row.parts > 1].append(len(parts) == row.parts)
        progress(f"{len(parts)} for {row.parts}: {row.text} -> {parts}")
    return {
        "split.parts": float(np.mean(right[True])),
        "split.kept": float(np.mean(right[False])),
    }


if __name__ == "__main__":
    main()
