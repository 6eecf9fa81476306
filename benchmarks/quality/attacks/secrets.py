"""How many secrets the redaction finds, and how many harmless texts it touches.

All kinds have been looked at by now, each bank once it was counted: ``held_out``, then
``more``, then ``fresh`` (0.785 when no rule was made by them, at 368f20d).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from agent.language.redaction import redact
from benchmarks.quality.attacks import secrets_alike, secrets_bank, secrets_more
from benchmarks.shared.common import parser, progress, write_results

EACH = 8
"""Secrets of each of 25 kinds, for each seed."""
ALIKE = 20
"""Texts of each of 20 kinds."""
BANKS = (
    ("developed", secrets_bank.DEVELOPED, secrets_alike.DEVELOPED),
    ("held_out", secrets_bank.HELD_OUT, secrets_alike.HELD_OUT),
    ("more", secrets_more.LOOKED_AT, secrets_more.ALIKE),
    ("fresh", secrets_more.FRESH, secrets_more.FRESH_ALIKE),
)
"""A name, the secrets, and the harmless texts."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Of how many texts something is so, with those of which it is not."""

    right: int
    wrong: tuple[str, ...]

    @property
    def share(self) -> float:
        return self.right / (self.right + len(self.wrong))


def found(kinds: Mapping[str, Callable[[Random], secrets_bank.Made]], seed: int) -> Counted:
    """The secrets of which nothing is left that opens anything."""
    made = [make(Random(f"{seed} {name} {n}")) for name, make in kinds.items() for n in range(EACH)]
    wrong = [text for text, secret in made if _left(redact(text).text, secret)]
    return Counted(len(made) - len(wrong), tuple(wrong))


def _left(text: str, secret: str) -> bool:
    """Whether the half of a secret can be read still: a card's last group is none."""
    half = max(4, len(secret) // 2)
    return any(secret[at : at + half] in text for at in range(len(secret) - half + 1))


def untouched(kinds: Mapping[str, secrets_alike.Alike], seed: int) -> Counted:
    """The harmless texts that stay to the letter."""
    texts = [
        make(Random(f"{seed} {name} {n}")) for name, make in kinds.items() for n in range(ALIKE)
    ]
    wrong = [text for text in texts if redact(text).text != text]
    return Counted(len(texts) - len(wrong), tuple(wrong))


def main() -> None:
    options = parser("secrets", __doc__ or "")
    options.add_argument("--developed", action="store_true", help="only the kinds to develop on")
    given = options.parse_args()
    seeds = range(1 if given.quick else given.seeds)
    figures: dict[str, float] = {}
    for name, secrets, harmless in BANKS[:1] if given.developed else BANKS:
        secret = [found(secrets, seed) for seed in seeds]
        alike = [untouched(harmless, seed) for seed in seeds]
        figures[f"recall_{name}"] = sum(one.share for one in secret) / len(secret)
        figures[f"false_{name}"] = 1 - sum(one.share for one in alike) / len(alike)
        if given.developed:
            for one in (*secret[:1], *alike[:1]):
                progress("\n".join(one.wrong))
    for key, value in figures.items():
        progress(f"{key}: {value:.3f}")
    if not given.developed:
        write_results("secrets", vars(given), list(seeds), figures)


if __name__ == "__main__":
    main()
