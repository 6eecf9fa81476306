"""Message router: update, retrieve or neither.

Owns the three routes and the small committee that tells them apart. One member is a softmax layer
over the message's sentence embedding and hashed pieces of its wording; the other is a network with
one hidden layer over the embedding and the frame of the sentence. The wording says what the
embedding blurs: "I moved to Oslo" and "when did I move to Oslo" mean nearly the same and want
opposite things. The network carries over to topics whose words were never seen.

Invariants: the same text always gets the same decision; weights are used only with the encoder
they were made for; a text of any length costs at most ``MOST_PIECES`` encoded pieces.
Numpy only: ``benchmarks.routing_train`` makes the weights.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agent.errors import ModelError
from agent.language.identify import FEWEST, common_language, is_foreign
from agent.language.sentences import has_question_mark, sentences
from agent.ports import Embedder
from agent.results import Route
from policies.weight_file import REINSTALL, read_arrays
from store.errors import WeightsDamaged

WEIGHTS: Final = Path(__file__).parent / "data" / "routing.npz"
WORDING: Final = "1"
"""Version of the hashed wording; weights made for another are refused."""
_REMEDY: Final = f"{REINSTALL} Or make them again: python -m benchmarks.routing_train"

PIECE_CHARACTERS: Final = 320
"""Longest text judged at once: a few sentences, well within what the encoder reads."""
MOST_PIECES: Final = 16

_WORD_SLOTS, _LETTER_SLOTS, _FRAME_SLOTS = 1 << 15, 1 << 15, 1 << 14
FRAME_INPUTS: Final = 1 << 10
"""The frame's slots folded together for the network."""
NETWORK_VOICE: Final = 0.7
"""What the network's vote counts beside the softmax layer's: it is the rasher of the two."""
WORDING_SLOTS: Final = _WORD_SLOTS + _LETTER_SLOTS + _FRAME_SLOTS

_TOKEN = re.compile(
    r"\d+|[^\W\d_\u2e80-\uffff]+(?:['’][^\W\d_\u2e80-\uffff]+)*|[^\W\d_]|[?!.,:;。，？！：]"
)
_CHINESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
Floats = NDArray[np.float32]

_FRAME_WORDS = frozenset(
    """i me my mine myself we us our ours you your yours he him his she her hers it its they them
    their them this that these those who whom whose what which when where why how am is are was
    were be been being do does did done have has had will would can could shall should may might
    must need let let's i'm i've i'd i'll we're we've we'll he's she's it's they're that's there's
    what's who's where's when's how's don't doesn't didn't can't won't isn't aren't wasn't wouldn't
    couldn't haven't hasn't a an the some any no not never none all every each more most anymore
    longer only just also too very so than then now again still yet already always usually often
    ever and or but if because while until since before after though for to from of in on at by
    with without about as into over up down off out remember remind forget note save add put delete
    remove cancel change update call tell show give recommend suggest please thanks name ago
    yesterday today tomorrow tonight last next""".split()
)
"""Words that frame a sentence. What stands between them is its topic, which must not matter."""


OURS: Final = ("en", "zh")
"""Languages that the classifier learned."""
ROUTES: Final = tuple(Route)
"""The order of the classifier's columns."""


@dataclass(frozen=True, slots=True)
class RouteDecision:
    """The likeliest route and how sure the classifier is of each."""

    route: Route
    probabilities: Mapping[Route, float]


@dataclass(frozen=True, slots=True)
class Layers:
    """The committee's weights; columns are ``ROUTES``."""

    meaning: Floats
    """(dimension, 3): the softmax layer over the embedding"""
    wording: Floats
    """(WORDING_SLOTS, 3): the same layer over the hashed wording"""
    bias: Floats
    """(3,)"""
    hidden: Floats
    """(dimension + FRAME_INPUTS, units): the network's hidden layer"""
    hidden_bias: Floats
    """(units,)"""
    output: Floats
    """(units, 3)"""
    output_bias: Floats
    """(3,)"""

    def judge(self, vectors: Floats, texts: Sequence[str]) -> NDArray[np.float64]:
        """Probabilities of the routes, shape (len(texts), 3), given the texts' embeddings."""
        linear = vectors @ self.meaning + self.bias
        frames = np.zeros((len(texts), FRAME_INPUTS), dtype=np.float32)
        for row, text in enumerate(texts):
            slots, values = wording_slots(text)
            linear[row] += values @ self.wording[slots]
            frames[row] = frame_inputs(slots, values)
        inputs = np.hstack([vectors, frames])
        network = np.maximum(inputs @ self.hidden + self.hidden_bias, 0) @ self.output
        votes = _log_softmax(linear) + NETWORK_VOICE * _log_softmax(network + self.output_bias)
        return np.exp(_log_softmax(votes / (1 + NETWORK_VOICE)))


class Router:
    """Tells the route of a message."""

    def __init__(self, embedder: Embedder, weights: Path | None = None) -> None:
        """Load the classifier.

        :raises WeightsDamaged: if the weights are missing or unreadable.
        :raises ModelError: if they were made for another encoder or another version of wording.
        """
        self._embedder = embedder
        path = weights or WEIGHTS
        try:
            saved = read_arrays(path, remedy=_REMEDY)
            encoder, dimension = str(saved["encoder"]), int(saved["dimension"])
            wording = str(saved["wording_version"])
            self._layers = Layers(
                **{field: saved[field].astype(np.float32) for field in Layers.__annotations__}
            )
        except (KeyError, ValueError) as error:
            raise WeightsDamaged(
                f"The weights at {path} are no routing weights ({error}). {_REMEDY}"
            ) from error
        if not same_encoder(encoder, embedder.identity) or dimension != embedder.dimension:
            raise ModelError(
                f"The routing weights {path.name} were made for the encoder {encoder} "
                f"({dimension} numbers), but the encoder in use is {embedder.identity} "
                f"({embedder.dimension}). Use that encoder, or make weights for this one with: "
                "python -m benchmarks.routing_train"
            )
        if wording != WORDING or self._layers.wording.shape != (WORDING_SLOTS, len(ROUTES)):
            raise ModelError(
                f"The routing weights {path.name} are of another version of memlane. Make them "
                "again with: python -m benchmarks.routing_train"
            )

    def detect(self, text: str, before: Sequence[str] = ()) -> RouteDecision:
        """The route of a message. Text without a single letter or digit is ``NEITHER``.

        A question that is too short to tell its language is in that of most messages ``before``.
        """
        parts = pieces(text)
        if not parts:
            return _decision(np.array([0.0, 0.0, 1.0]))
        told = [one for one in before if len(one.split()) >= FEWEST]
        if is_foreign(text) or (
            has_question_mark(text) and common_language(text, told) not in OURS
        ):
            return _decision(combine(np.array([_by_mark(part) for part in sentences(text)])))
        return _decision(combine(self._layers.judge(self._embedder.encode(parts), parts)))


def _by_mark(sentence: str) -> tuple[float, float, float]:
    """Of a sentence in a language that the classifier did not learn: a question asks."""
    return (0.9, 0.05, 0.05) if has_question_mark(sentence) else (0.05, 0.9, 0.05)


def combine(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """One verdict from those on consecutive pieces, shape (pieces, 3) -> (3,).

    A question that closes the message is what the person waits for, whatever was told before it.
    Otherwise one piece that tells something makes the whole message an update.
    """
    if len(probabilities) == 1:
        return np.asarray(probabilities[0])
    retrieve = float(probabilities[-1, 0])
    told = float(probabilities[:, 1].max())
    return np.array([retrieve, (1 - retrieve) * told, (1 - retrieve) * (1 - told)])


def pieces(text: str) -> list[str]:
    """The text in pieces of whole sentences that the encoder can read in full.

    Of a text with more than ``MOST_PIECES``, the beginning and the end are kept: what a message
    is shows there. Pieces without a letter or digit are dropped.
    """
    if len(text) <= PIECE_CHARACTERS and _width(text) <= PIECE_CHARACTERS:
        found = [text]
    else:
        half = MOST_PIECES // 2
        reach = half * PIECE_CHARACTERS
        if len(text) > 2 * reach:
            found = _packed(text[:reach])[:half] + _packed(text[-reach:])[-half:]
        else:
            found = _packed(text)
        if len(found) > MOST_PIECES:
            found = found[:half] + found[-half:]
    return [piece for piece in found if any(character.isalnum() for character in piece)]


def wording_slots(text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Hashed pieces of the wording: slot numbers below ``WORDING_SLOTS`` and their values.

    Three blocks, each of unit length: runs of one to three words, runs of three to five
    characters, and the frame (runs of up to four words in which topic words are blanks).
    """
    found = _TOKEN.findall(text.lower())
    tokens = ["0" if token[0].isdigit() else token.replace("’", "'") for token in found]
    blocks = (
        (_runs("w", ["<", *tokens, ">"], 3), _WORD_SLOTS, 0),
        (_letters(" " + " ".join(tokens) + " "), _LETTER_SLOTS, _WORD_SLOTS),
        (_runs("f", ["<", *_frame(tokens), ">"], 4), _FRAME_SLOTS, _WORD_SLOTS + _LETTER_SLOTS),
    )
    slots: list[int] = []
    values: list[float] = []
    for grams, size, start in blocks:
        hashed = sorted({zlib.crc32(gram.encode()) % size for gram in grams})
        slots += [start + slot for slot in hashed]
        values += [max(1, len(hashed)) ** -0.5] * len(hashed)
    return np.array(slots, dtype=np.int64), np.array(values, dtype=np.float32)


def frame_inputs(slots: NDArray[np.int64], values: Floats) -> Floats:
    """The frame's share of ``wording_slots`` as the network takes it, shape (FRAME_INPUTS,)."""
    frame = slots >= _WORD_SLOTS + _LETTER_SLOTS
    folded = np.zeros(FRAME_INPUTS, dtype=np.float32)
    np.add.at(folded, slots[frame] % FRAME_INPUTS, values[frame])
    return folded


def _frame(tokens: Sequence[str]) -> Iterator[str]:
    """The tokens, each run of topic words as one blank; Chinese characters stay themselves."""
    blank = False
    for token in tokens:
        topic = token[0].isalpha() and token[0] < "\u2e80" and token not in _FRAME_WORDS
        if not topic:
            yield token
        elif not blank:
            yield "_"
        blank = topic


def _runs(mark: str, tokens: Sequence[str], longest: int) -> Iterator[str]:
    for length in range(1, longest + 1):
        for start in range(len(tokens) - length + 1):
            yield f"{mark}{length} " + " ".join(tokens[start : start + length])


def _letters(text: str) -> Iterator[str]:
    for length in (3, 4, 5):
        for start in range(len(text) - length + 1):
            yield "c" + text[start : start + length]


def _width(text: str) -> int:
    """Rough size for the encoder: a Chinese character is a token, a Latin letter a third of one."""
    return len(text) + 2 * len(_CHINESE.findall(text))


def _packed(text: str) -> list[str]:
    """Sentences packed into pieces of at most ``PIECE_CHARACTERS``; a longer sentence is cut."""
    packed: list[str] = []
    room = 0
    for sentence in _SENTENCE_END.split(text):
        step = PIECE_CHARACTERS // (3 if _width(sentence) > 2 * len(sentence) else 1)
        for start in range(0, len(sentence), step):
            part = sentence[start : start + step]
            width = _width(part)
            if packed and width < room:
                packed[-1] += " " + part
                room -= width + 1
            else:
                packed.append(part)
                room = PIECE_CHARACTERS - width
    return packed


def _log_softmax(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    raised = scores.astype(np.float64) - scores.max(axis=1, keepdims=True)
    return np.asarray(raised - np.log(np.exp(raised).sum(axis=1, keepdims=True)))


def same_encoder(one: str, other: str) -> bool:
    """Whether two identities are of the same weights; a folder may go by any name."""
    return one.rpartition(":")[2] == other.rpartition(":")[2]


def _decision(probabilities: NDArray[np.float64]) -> RouteDecision:
    return RouteDecision(
        ROUTES[int(probabilities.argmax())],
        {route: float(p) for route, p in zip(ROUTES, probabilities, strict=True)},
    )
