"""How many secrets are taken out, and how many harmless texts are touched.

*everyday* are messages of voices and chats held out that tell no secret. *people* are texts that
nothing was learned from, by people who saw no code of ours: their harmless texts were written to
look like secrets. *notes* are some of those, each a line among everyday ones. The other banks are
frames of ours with made-up values; all were looked at, each once it was counted: ``held_out``, then
``more``, then ``fresh`` (0.785 when no rule was made by them, at 368f20d). ``rules`` is the exact
code without the secret reader, which learned from frames of all banks but ``fresh``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from statistics import median

import numpy as np

from agent.config import load_config
from agent.language.redaction import redact
from agent.models.readers.local_secret_reader import LocalSecretReader
from agent.ports import SecretReader
from benchmarks.quality.answers.changes.changes_data import HELD_VOICES
from benchmarks.quality.answers.conversations.chats import HELD as HELD_CHATS
from benchmarks.quality.redaction import secrets_alike, secrets_bank, secrets_more
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.training.language.secrets_data import HELD, ordinary, read_voices

EACH = 8
"""Secrets of each of 25 kinds, for each seed."""
ALIKE = 20
"""Texts of each of 20 kinds."""
AROUND, EVERY = 4, 3
"""Everyday lines above and below a text in a note; of the texts every third."""
Alike = Mapping[str, secrets_alike.Alike]
Secrets = Mapping[str, Callable[[Random], secrets_bank.Made]]
BANKS: tuple[tuple[str, Secrets, Alike], ...] = (
    ("developed", secrets_bank.DEVELOPED, secrets_alike.DEVELOPED),
    ("held_out", secrets_bank.HELD_OUT, secrets_alike.HELD_OUT),
    ("more", secrets_more.LOOKED_AT, secrets_more.ALIKE),
    ("fresh", secrets_more.FRESH, secrets_more.FRESH_ALIKE),
)
"""A name, the secrets, and the harmless texts."""


Told = tuple[str, tuple[str, ...]]
"""A text, and the secrets in it."""


def bank(secrets: Secrets, harmless: Alike, seeds: Sequence[int]) -> Iterator[Told]:
    """Made-up texts of a bank."""
    for seed in seeds:
        for name, make in secrets.items():
            for n in range(EACH):
                text, secret = make(Random(f"{seed} {name} {n}"))
                yield text, (secret,)
        for name, alike in harmless.items():
            for n in range(ALIKE):
                yield alike(Random(f"{seed} {name} {n}")), ()


def people() -> Iterator[Told]:
    """The texts of the people held out."""
    for one in read_voices(HELD):
        yield one.text, tuple(one.text[start:end] for start, end, _ in one.secrets)


def within_notes(texts: Sequence[Told], everyday: Sequence[str]) -> Iterator[Told]:
    """Each text as a line of a note, with everyday lines above and below."""
    chance = Random(0)
    for text, secrets in texts:
        lines = chance.sample(everyday, 2 * AROUND)
        yield "\n".join([*lines[:AROUND], text, *lines[AROUND:]]), secrets


def measured(texts: Sequence[Told], reader: SecretReader | None) -> tuple[float, float]:
    """Share of the secrets that are gone, and of the harmless texts that are touched."""
    gone, touched = [], []
    for text, secrets in texts:
        left = redact(text, reader=reader).text
        if not secrets:
            touched.append(left != text)
        gone += [not _left(left, secret) for secret in secrets]
    return float(np.mean(gone)), float(np.mean(touched))


def milliseconds(texts: Sequence[str], reader: SecretReader) -> float:
    """What the reader takes for a text, the median."""
    took = []
    for text in texts:
        began = time.perf_counter()
        reader.secrets(text)
        took.append(1000 * (time.perf_counter() - began))
    return median(took)


def _left(text: str, secret: str) -> bool:
    """Whether the half of a secret can be read still: a card's last group is none."""
    half = max(4, len(secret) // 2)
    return any(secret[at : at + half] in text for at in range(max(1, len(secret) - half + 1)))


def main() -> None:
    given = parser("secrets", __doc__ or "").parse_args()
    seeds = range(1 if given.quick else given.seeds)
    reader = LocalSecretReader(load_config())
    sets = {"people": list(people())}
    everyday = list(ordinary(HELD_VOICES, HELD_CHATS))
    figures: dict[str, float] = {
        "n_everyday": len(everyday),
        "touched_everyday": sum(
            redact(one.text, reader=reader).text != one.text for one in everyday
        ),
        "ms_everyday": milliseconds([one.text for one in everyday], reader),
    }
    lines = [one.text for one in everyday if "\n" not in one.text]
    sets["notes"] = list(within_notes(sets["people"][::EVERY], lines))
    sets |= {name: list(bank(secrets, alike, seeds)) for name, secrets, alike in BANKS}
    for name, texts in sets.items():
        figures[f"n_{name}"] = sum(len(secrets) for _, secrets in texts)
        figures[f"n_harmless_{name}"] = sum(not secrets for _, secrets in texts)
        for arm, used in (("", reader), ("_rules", None)):
            gone, touched = measured(texts[:: 40 if given.quick else 1], used)
            figures |= {f"recall_{name}{arm}": gone, f"false_{name}{arm}": touched}
            progress(f"{name}{arm}: {gone:.3f} gone, {touched:.3f} touched")
    write_results("secrets", vars(given), list(seeds), figures)


if __name__ == "__main__":
    main()
