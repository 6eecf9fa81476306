"""What would move if the hand-set thresholds were others: ``python -m benchmarks.thresholds``.

On development data alone (lives of the training bank, our own samples), without a language model:

- ``CHANCE`` (``agent.answering.told_or_asked``): messages that tell a fact and are not looked
  through for one at this threshold (*missed*), questions and small talk that are, at some seconds
  each (*needless*).
- ``NEAR`` (``agent.answering.grounding``): of questions that share no content word with the memory
  that answers them, those whose answer is withheld all the same (*withheld*); of questions that
  memory cannot answer and that share no word with the best memory, those let through
  (*let_through*).
- ``ABOUT_THIS`` (``agent.session.respond``): of questions that the router takes for small talk and
  that memory answers, those not tried (*missed*); of those that it does not answer, and of small
  talk itself, those tried (*needless*).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.answering import grounding, told_or_asked
from agent.config import load_config
from agent.results import Route
from agent.session import respond
from agent.session.session import Session, open_session
from benchmarks.quality.answers.abstention_cases import NOW, asked_in, life_cases, read_own
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.simulated_lives.lives import at, fresh
from benchmarks.shared.simulated_lives.lives_train import BANK
from benchmarks.shared.simulated_lives.lives_world import write_life
from store.types import Memory, SourceKind

CHANCES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
NEARS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
ABOUTS = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7)


@dataclass(frozen=True, slots=True)
class Put:
    """A question as it was asked in a home."""

    text: str
    holds: bool
    best: float
    """Cosine of the best memory."""
    shares: bool
    """Whether that memory shares a content word with the question."""


def main() -> None:
    options = parser("thresholds", __doc__ or "")
    options.add_argument("--lives", type=int, default=6, help="lives of the training bank")
    given = options.parse_args()
    lives = 1 if given.quick else given.lives
    figures: dict[str, float | int | None] = {}
    with open_session(load_config()) as models:
        figures |= chances(models, lives)
        put = list(questions(models, lives))
        progress(f"{len(put)} questions put")
        figures |= nears(put)
        figures |= abouts(put, models)
    config = {
        "quick": given.quick, "lives": lives, "CHANCE": told_or_asked.CHANCE,
        "NEAR": grounding.NEAR, "ABOUT_THIS": respond.ABOUT_THIS,
    }  # fmt: skip
    write_results("thresholds", config, list(range(lives)), figures)
    for key, value in figures.items():
        print(f"{key:35} {value if value is None else round(value, 3)}")


def chances(models: Session, lives: int) -> dict[str, float | int | None]:
    told: list[str] = []
    other: list[str] = []
    for seed in range(lives):
        life = write_life(BANK, seed)
        told += [one.raw for one in life.told if one.kind is SourceKind.CHAT]
        other += [one.text for one in life.asked if one.kind != "form"] + list(life.small_talk)
    for _, memories, asked in read_own():
        told += memories
        other += [text for text, _, _ in asked]
    tells, others = (_updates(texts, models) for texts in (told, other))
    figures: dict[str, float | int | None] = {
        "CHANCE.told_n": len(tells),
        "CHANCE.other_n": len(others),
    }
    for chance in CHANCES:
        figures[f"CHANCE.{chance}.missed"] = _share(p < chance for p in tells)
        figures[f"CHANCE.{chance}.needless"] = _share(p >= chance for p in others)
    return figures


def _updates(texts: Sequence[str], models: Session) -> list[float]:
    """Of each text once: how likely it tells something."""
    return [models.router.detect(text).probabilities[Route.UPDATE] for text in dict.fromkeys(texts)]


def questions(models: Session, lives: int) -> Iterator[Put]:
    """Every question of our own samples and of lives of which a part is untold."""
    for _, memories, asked in read_own():
        with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as opened:
            here = at(opened, NOW)
            for text in memories:
                here.remember(text)
            talk = [(text, "small talk", False) for text in BANK.small_talk]
            for text, _, holds in [*asked, *talk]:
                for _, found in asked_in(here, text, ["top-k"]):
                    best = max(found.near, key=lambda memory: found.near[memory], default=None)
                    if best is not None:
                        yield _put(text, holds, found.near[best], here.graph.memories.get(best))
    for seed in range(lives):
        for case in life_cases(BANK, seed, models, ["top-k"]):
            if case.signs is not None:
                shares = case.signs.covered > 0
                yield Put(case.text, case.holds, case.signs.best, shares)


def _put(text: str, holds: bool, best: float, memory: Memory) -> Put:
    shares = bool(grounding.terms(text) & grounding.about(memory))
    return Put(text, holds, best, shares)


def nears(put: Sequence[Put]) -> dict[str, float | int | None]:
    apart = [one for one in put if not one.shares]
    held = [one.best for one in apart if one.holds]
    not_held = [one.best for one in apart if not one.holds]
    figures: dict[str, float | int | None] = {
        "NEAR.answerable_n": len(held),
        "NEAR.other_n": len(not_held),
    }
    for near in NEARS:
        figures[f"NEAR.{near}.withheld"] = _share(best < near for best in held)
        figures[f"NEAR.{near}.let_through"] = _share(best >= near for best in not_held)
    return figures


def abouts(put: Sequence[Put], models: Session) -> dict[str, float | int | None]:
    aside = []
    for one in put:
        likely = models.router.detect(one.text).probabilities
        if likely[Route.RETRIEVE] < min(told_or_asked.CHANCE, likely[Route.NEITHER]):
            aside.append(one)
    held = [one.best for one in aside if one.holds]
    not_held = [one.best for one in aside if not one.holds]
    figures: dict[str, float | int | None] = {
        "ABOUT_THIS.answerable_n": len(held), "ABOUT_THIS.other_n": len(not_held)
    }  # fmt: skip
    for about in ABOUTS:
        figures[f"ABOUT_THIS.{about}.missed"] = _share(best < about for best in held)
        figures[f"ABOUT_THIS.{about}.needless"] = _share(best >= about for best in not_held)
    return figures


def _share(hits: Iterator[bool]) -> float | None:
    found = list(hits)
    return sum(found) / len(found) if found else None


if __name__ == "__main__":
    main()
