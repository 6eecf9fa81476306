"""Texts with and without secrets, by many people: ``samples/secrets`` and ``samples/secrets_held``.

One text a line, a break in it written as ``\\n``, each secret as ``⟦KIND|value⟧``. The writers saw
no code of ours, only a page that says what is a secret.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from stdnum import luhn

from agent.language.redaction import redact
from benchmarks.quality.answers.conversations.chats import CHATS, read_chat
from benchmarks.quality.redaction import secrets_alike, secrets_bank, secrets_more
from benchmarks.shared.common import SAMPLES
from benchmarks.training.reader.reader_data import VOICES as READER_VOICES
from benchmarks.training.reader.reader_data import read_episodes

VOICES = SAMPLES / "secrets"
HELD = SAMPLES / "secrets_held"
"""Of people that nothing is learned from."""
_MARK = re.compile(r"⟦([^|⟧]*)\|([^⟧]+)⟧")
_ACCESS = re.compile(
    r"wi-?fi|pass-?\s?(?:word|phrase|code)|\bp(?:w|in)\b|network|router|ssid|log-?in|magic word",
    re.I,
)
_SHORTEST_CARD, _LONGEST_CARD = 13, 19
"""Digits of a card number."""
_EACH = 12
"""Made-up texts of each kind."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A text, and where its secrets are: start, end and kind."""

    voice: str
    text: str
    secrets: tuple[tuple[int, int, str], ...]


def read_voices(folder: Path) -> Iterator[Marked]:
    """All texts of a folder, file by file."""
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            yield _marked(path.stem, line.replace("\\n", "\n"))


def _marked(voice: str, line: str) -> Marked:
    text, secrets, at = "", [], 0
    for mark in _MARK.finditer(line):
        value = _valid_card(mark[2]) if mark[1] == "card number" else mark[2]
        text += line[at : mark.start()]
        secrets.append((len(text), len(text) + len(value), mark[1]))
        text += value
        at = mark.end()
    return Marked(voice, text + line[at:], tuple(secrets))


def _valid_card(number: str) -> str:
    """A whole card number with a right check digit, as every card has; the writers made them up."""
    digits = [at for at, sign in enumerate(number) if sign in string.digits]
    if not _SHORTEST_CARD <= len(digits) <= _LONGEST_CARD:
        return number
    right = luhn.calc_check_digit("".join(number[at] for at in digits[:-1]))
    return number[: digits[-1]] + right + number[digits[-1] + 1 :]


def ordinary(voices: Path = READER_VOICES, chats: Path = CHATS) -> Iterator[Marked]:
    """Messages of everyday life that tell no secret: those of our voices, and of chats.

    What may tell one is left out: that which is near the words of access, and that which the
    patterns find.
    """
    said = {text: one.voice for one in read_episodes(voices) for _, text in one.messages}
    said |= {one.text: path.stem for path in chats.glob("*.jsonl") for one in read_chat(path)}
    for text, voice in said.items():
        if not _ACCESS.search(text) and redact(text).text == text:
            yield Marked(voice, text, ())


def made_up() -> Iterator[Marked]:
    """Texts from frames of ours, of the kinds that rules were written by."""
    kinds = secrets_bank.DEVELOPED | secrets_bank.HELD_OUT | secrets_more.LOOKED_AT
    for name, make in kinds.items():
        kind = _KIND_OF.get(name)
        for n in range(_EACH if kind else 0):
            text, secret = make(Random(f"train {name} {n}"))
            start = text.find(secret)
            if start >= 0:
                yield Marked("", text, ((start, start + len(secret), kind or ""),))
    alike = secrets_alike.DEVELOPED | secrets_alike.HELD_OUT | secrets_more.ALIKE
    for name, harmless in alike.items():
        for n in range(_EACH):
            yield Marked("", harmless(Random(f"train {name} {n}")), ())


_NAMES = {
    "password": "password_en wifi_label password_abroad password_prose wifi_code in_notes abroad"
    " spoken",
    "PIN": "pin",
    "one-time code": "otp_en otp_abroad confirming backup_codes",
    "access token": "postgres connection environment_file client_line session hex_key",
    "identity number": "national_dev national_held citizen",
    "card number": "card",
    "bank account": "iban",
}
_KIND_OF = {name: kind for kind, names in _NAMES.items() for name in names.split()}
