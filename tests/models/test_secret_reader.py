"""The secret reader: which words of a text are a secret, by what is said around them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agent.config import load_config
from agent.errors import ModelMissing
from agent.language.redaction import redact
from agent.models.adapters.bert.secret_reader import KINDS, WINDOW, _head, spans, windows
from agent.models.lazy import LocalEmbedder
from agent.models.readers.local_secret_reader import WEIGHTS, LocalSecretReader
from agent.models.registry import ModelRegistry
from agent.ports import SecretReader, SecretsRead
from agent.session.session import Session
from policies.weight_file import read_arrays
from tests.support.redaction_cases import HARMLESS


@pytest.fixture(scope="module")
def reader() -> SecretReader:
    return LocalSecretReader(load_config())


class Says:
    """A reader that finds these words as that kind."""

    def __init__(self, words: str, kind: str) -> None:
        self.words, self.kind = words, kind

    def secrets(self, text: str) -> SecretsRead:
        at = text.find(self.words)
        return SecretsRead(((at, at + len(self.words), self.kind),) if at >= 0 else ())


def test_what_stands_behind_a_shorter_text_of_a_batch_changes_nothing():
    stored = read_arrays(WEIGHTS)
    head = _head(
        {
            name.removeprefix("head."): array.astype(np.float32)
            for name, array in stored.items()
            if name.startswith("head.")
        }
    )
    width = stored["head.first.weight"].shape[1]
    tokens = np.random.default_rng(0).standard_normal((2, 12, width)).astype(np.float32)
    mask = np.ones((2, 1, 12), np.float32)
    mask[0, 0, 5:] = 0
    (together,) = head.run(None, {"tokens": tokens, "mask": mask})
    (apart,) = head.run(None, {"tokens": tokens[:1, :5], "mask": mask[:1, :, :5]})
    assert together[0, :5] == pytest.approx(apart[0], abs=1e-6)
    (unmasked,) = head.run(None, {"tokens": tokens, "mask": np.ones_like(mask)})
    assert np.abs(unmasked[0, :5] - apart[0]).max() > 1e-3  # the rest would count


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("to get onto the cabin wifi you type tulip-Harbour-42", "tulip-Harbour-42"),
        ("My login for the allotment site is robin44 and then goosegog91", "goosegog91"),
        ("Netflix is still on mum's account, hunter2season is what you put in", "hunter2season"),
    ],
)
def test_a_password_told_in_passing_is_gone(reader: SecretReader, text: str, secret: str):
    assert secret in redact(text).text, "the patterns alone do not find it"
    assert secret not in redact(text, reader=reader).text


@pytest.mark.parametrize(
    "text",
    [
        "The clue is 'secret word', eight letters. PASSWORD! she was thrilled.",
        "I told the children that the password for my knee is 'please'.",
    ],
)
def test_what_a_label_calls_a_secret_stays_where_the_reader_sees_none(
    reader: SecretReader, text: str
):
    assert redact(text).text != text
    assert redact(text, reader=reader).text == text


@pytest.mark.parametrize(
    "text", ["My name is Tan Wei. My password is hunter2x9.", "pw: Zebra!91", "Password: tulip7"]
)
def test_a_labelled_secret_is_gone(reader: SecretReader, text: str):
    assert "redacted" in redact(text, reader=reader).text


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays_to_the_letter(reader: SecretReader, text: str):
    assert redact(text, reader=reader).text == text


def test_a_secret_far_down_a_long_text_is_found_in_its_place(reader: SecretReader):
    lines = [f"On day {n} we walked to the harbour and had soup." for n in range(80)]
    lines[60] = "The wifi password of the hut is lantern-Goat-77, it took us an hour."
    text = "\n".join(lines)
    read = reader.secrets(text)
    assert read
    (found,) = read.sure
    assert text[found[0] : found[1]] == "lantern-Goat-77"
    assert found[2] == "password"


def test_a_line_is_read_alone_and_below_a_short_one_with_that_too():
    text = "password:\n\ntulip\n" + "c" * 150 + "\nd"
    assert [piece for _, piece in windows(text)] == [
        "password:\n",
        "tulip\n",
        "password:\n\ntulip\n",
        "c" * 150 + "\n",
        "tulip\n" + "c" * 150 + "\n",
        "d",
    ]


def test_windows_hold_the_whole_text():
    text = "\n".join(["a" * 30, "b " * 700, "", "c" * 900, "d"])
    pieces = list(windows(text))
    assert all(text[start : start + len(piece)] == piece for start, piece in pieces)
    read = {at for start, piece in pieces for at in range(start, start + len(piece))}
    assert {at for at, sign in enumerate(text) if not sign.isspace()} <= read
    assert all(len(piece) <= 2 * WINDOW for _, piece in pieces)


@pytest.mark.parametrize("text", ["", " \n ", "(" * 20_000, "\u2028\x85\ud800 \u200d", "1 " * 9000])
def test_where_nothing_is_said_nothing_is_found(reader: SecretReader, text: str):
    assert reader.secrets(text) == SecretsRead()


def test_the_words_between_two_sure_ones_go_too():
    text = "it is red-fox 9 ok"
    places = [(0, 0), (0, 2), (3, 5), (6, 9), (9, 10), (10, 13), (14, 15), (16, 18), (0, 0)]
    chances = np.zeros((len(places), len(KINDS)), np.float32)
    chances[:, 0] = 1
    for row, chance in ((3, 0.99), (4, 0.4), (5, 0.99), (6, 0.99)):
        chances[row, :2] = 1 - chance, chance
    assert spans(text, places, chances) == [(6, 15, "password")]


def test_a_mark_of_what_is_gone_is_no_secret():
    text = "pw [password redacted]"
    assert redact(text, reader=Says("redacted", "password")).text == text


@pytest.mark.parametrize(
    ("wrong", "right", "kind"),
    [
        ("4111 1111 1111 1112", "4111 1111 1111 1111", "card number"),
        ("490154203237518", "44051401458", "identity number"),  # the first is of a telephone
    ],
)
def test_a_number_must_be_right_as_what_it_is_called(wrong: str, right: str, kind: str):
    for number in (wrong, right):
        text = f"It says {number} on it."
        touched = redact(text, reader=Says(number, kind)).text != text
        assert touched is (number == right)


def test_what_was_kept_on_purpose_stays(reader: SecretReader):
    text = "the back way in is goosegog91"
    assert redact(text, kept=text, reader=Says("goosegog91", "password")).text == text


def test_without_the_encoder_texts_are_read_by_exact_code_alone(monkeypatch: pytest.MonkeyPatch):
    def missing(registry: ModelRegistry, name: str) -> Path:
        raise ModelMissing(f"{name} is not installed.")

    monkeypatch.setattr(ModelRegistry, "resolve_embedder", missing)
    reader = LocalSecretReader(load_config())
    text = "to get onto the cabin wifi you type tulip-Harbour-42"
    assert redact(text, reader=reader).text == text


def test_the_weights_were_made_for_the_built_in_encoder():
    made_for = read_arrays(WEIGHTS, ("encoder",))["encoder"]
    assert str(made_for) == LocalEmbedder(load_config()).identity


def test_what_is_said_is_stored_without_its_secret(session: Session):
    session.remember("to get onto the cabin wifi you type tulip-Harbour-42")
    assert all("tulip" not in source.text for source in session.graph.sources.list())
