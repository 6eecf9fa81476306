"""Prediction of the user's choice among options.

The paper puts the retrieved lines before a large model and takes what it answers. A small model
alone does little better than chance there, so its probabilities are one of three voices here: each
retrieved line also speaks for the options that it is like, once the person's own lines and once
those of joined profiles. The three are mixed in the logarithm (docs/personas.md has the ablation).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.applications.personas.join import (
    Profile,
    composed,
    nearest,
    profiles,
    put_to,
    still_agree,
)
from agent.applications.personas.persona_in_answers import usable
from agent.language.injection import as_data, steers
from agent.language.validation import checked_message
from agent.memory.home import Home
from agent.memory.vectors.waiting import ensure_vectors
from agent.ports import Vectors
from store.errors import InvalidInput
from store.tables.side_tables.shared_homes import VIEWS

SIZE = 20
"""Lines retrieved for a prediction."""
SHARP = 4.0
"""How fast a line's voice falls as its question moves away from the one that is asked."""
SHARP_JOINED = 20.0
"""The same of joined lines: of many people's answers those to the very question count most."""
BY_MODEL = 0.5
"""How much the logarithm of the language model's probabilities counts. Set by hand as the next two:
above what persona_opinions fits (0.04 to 0.08 for the 135M)."""
BY_OWN = 2.5
"""The same of the vote of the person's own lines; persona_opinions fits 2.7 to 3.3."""
BY_JOINED = 0.5
"""The same of the vote of joined profiles' lines; it fits 0.6 to 0.7."""
Probabilities = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the person would probably choose. It is inferred, and says so wherever it is shown."""

    question: str
    options: tuple[tuple[str, float], ...]
    """Each option with its probability, in the order given; they sum to 1."""
    evidence: tuple[str, ...]
    """Ids of the person's own memories and persona lines that took part, nearest first."""
    joined: int
    """How many joined profiles took part; whose, and with what, is not told."""

    @property
    def choice(self) -> str:
        return max(self.options, key=lambda option: option[1])[0]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Lines to retrieve from: texts, unit vectors (n, dimension), and how loud each may be."""

    texts: Sequence[str]
    vectors: Vectors
    ids: Sequence[str] = ()
    loudness: NDArray[np.float64] | None = None
    sharp: float = SHARP

    def nearest(self, question: Vectors, count: int) -> Pool:
        """The lines nearest to the question, best first."""
        chosen = np.asarray(nearest(self.vectors, question, count), np.intp)
        return Pool(
            [self.texts[row] for row in chosen],
            self.vectors[chosen],
            [self.ids[row] for row in chosen] if self.ids else (),
            None if self.loudness is None else self.loudness[chosen],
            self.sharp,
        )


_ASKED = re.compile(r"""^Asked ["“](?P<asked>.+)["”], I answered:? (?P<said>.+?)\.?$""")
_PLAIN = re.compile(r"^(?P<asked>.+\?) (?P<said>[^?]+?)\.?$")


def asked_and_said(text: str) -> tuple[str, str] | None:
    """The question and the answer of a line that is one; None of a plain statement."""
    match = _ASKED.match(text) or _PLAIN.match(text)
    return (match["asked"], match["said"]) if match else None


def vote(
    pool: Pool, question: str, options: Sequence[str], encode: Callable[[Sequence[str]], Vectors]
) -> NDArray[np.float64]:
    """How far the lines of a pool speak for each option; zero for all where there is no line."""
    return np.asarray(spoken(pool, question, options, encode).sum(axis=1), np.float64)


def spoken(
    pool: Pool, question: str, options: Sequence[str], encode: Callable[[Sequence[str]], Vectors]
) -> NDArray[np.float64]:
    """What each line says for each option, shape (options, lines).

    An answer to another question speaks for the options it is like, as loud as that question is
    like this one. A plain statement speaks for the options with which the question is like it.
    """
    if not len(pool.texts):
        return np.zeros((len(options), 0))
    parts = [asked_and_said(text) for text in pool.texts]
    keys = [part[0] if part else text for part, text in zip(parts, pool.texts, strict=True)]
    said = [part[1] if part else text for part, text in zip(parts, pool.texts, strict=True)]
    answers = np.array([part is not None for part in parts])
    # What an answer is like is the option alone, what a statement is like is the whole of it.
    wanted = [option.rstrip(".") for option in options]
    if not answers.all():
        wanted += [f"{question} {option}" for option in options]
    vectors = encode([question, *wanted, *keys, *said])
    options_end, keys_end = 1 + len(wanted), 1 + len(wanted) + len(keys)
    near = vectors[1:options_end] @ vectors[keys_end:].T  # (options, lines), perhaps twice
    if not answers.all():
        near = np.where(answers, near[: len(options)], near[len(options) :])
    loud = np.exp(pool.sharp * (vectors[options_end:keys_end] @ vectors[0] - 1))
    if pool.loudness is not None:
        loud = loud * pool.loudness
    return np.asarray((near - near.mean(axis=0)) * loud, np.float64)


def mixed(
    model: Probabilities, own: NDArray[np.float64], joined: NDArray[np.float64]
) -> Probabilities:
    """The voices in one distribution."""
    scores = BY_OWN * own + BY_JOINED * joined + BY_MODEL * np.log(np.maximum(model, 1e-9))
    shifted = np.exp(scores - scores.max())
    return np.asarray(shifted / shifted.sum(), np.float64)


def prompt_of(
    question: str, own: Sequence[str], joined: Sequence[str], options: Sequence[str]
) -> str:
    """What the model reads: a survey with what is known, as a base model goes on with it."""
    parts = []
    if own:
        parts += ["What the person said:", *(f"- {as_data(text)}" for text in own)]
    if joined:
        parts += ["What people who think alike said:", *(f"- {as_data(text)}" for text in joined)]
    listed = " / ".join(as_data(option) for option in options)
    return "\n".join([*parts, f"Question: {as_data(question)} ({listed})", "The person answers:"])


def predict(home: Home, question: str, options: Sequence[str]) -> Prediction:
    """What the person would choose, by their own views and those of profiles that agreed.

    A home whose consent ends while this is worked out is left out: it is done again without it.

    :raises InvalidInput: if there are fewer than two different options.
    """
    asked = checked_message(question)
    given = list(dict.fromkeys(" ".join(option.split()) for option in options))
    if len(given) < 2 or not all(given):
        raise InvalidInput("Give at least two different options: --option yes --option no")
    ensure_vectors(home.graph, home.embedder)
    own = _own(home)
    vector = home.embedder.encode([asked])[0]
    read = profiles(home.graph, home.embedder.identity, home.config.now())
    joined = put_to(vector, read)
    while True:
        said = _chosen(home, asked, vector, given, own, joined)
        left = still_agree(home.graph, joined)
        if len(left) == len(joined):
            return said
        joined = left


def _own(home: Home) -> Pool:
    """The views of the person, and the lines that were refined from them."""
    now = home.config.now()
    view = home.graph.view(now, home.embedder.identity)
    rows = [
        row
        for row, memory in enumerate(view.memories)
        if memory.type == VIEWS and not steers(memory.text)
    ]
    lines = usable(home)
    vectors = [*(view.vectors[row] for row in rows), *(line.vector for line in lines)]
    return Pool(
        [*(view.memories[row].text for row in rows), *(line.line.text for line in lines)],
        np.stack(vectors) if vectors else np.zeros((0, home.embedder.dimension), np.float32),
        [*(view.memories[row].id for row in rows), *(line.line.id for line in lines)],
    )


def joined_pool(joined: Sequence[Profile], dimension: int) -> Pool:
    """All that joined profiles let be read, louder the nearer a profile is (equation 2)."""
    texts, vectors, loudness = [], [], []
    for profile in joined:
        for text, vector in zip(profile.views.texts, profile.views.vectors, strict=True):
            if not steers(text):
                texts.append(text)
                vectors.append(vector)
                loudness.append(np.exp(profile.nearness - 1))
    matrix = np.stack(vectors) if vectors else np.zeros((0, dimension), np.float32)
    return Pool(texts, matrix, loudness=np.array(loudness), sharp=SHARP_JOINED)


def _chosen(
    home: Home,
    question: str,
    asked: Vectors,
    options: Sequence[str],
    own: Pool,
    joined: Sequence[Profile],
) -> Prediction:
    theirs = joined_pool(joined, len(asked))
    share = home.config.join_share / 100
    room_own, room_joined = composed(SIZE, share, bool(len(theirs.texts)))
    mine, others = own.nearest(asked, room_own), theirs.nearest(asked, room_joined)
    (by_model,) = home.rewards.choose(
        [prompt_of(question, mine.texts, others.texts, options)],
        [[f" {option}" for option in options]],
    )
    encode = home.embedder.encode
    votes = [vote(pool, question, options, encode) for pool in (mine, others)]
    found = mixed(by_model, votes[0], votes[1])
    return Prediction(
        question,
        tuple(zip(options, map(float, found), strict=True)),
        tuple(mine.ids),
        len(joined) if len(others.texts) else 0,
    )
