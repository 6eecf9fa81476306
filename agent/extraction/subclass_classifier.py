"""Subclass classifier for memories (EMG-RAG 4.2, A.2).

The sentence embedding of a memory is compared with the subclasses' example sentences; a subclass
scores by its nearest example blended with its centroid. A few hints add to a score where the
wording is exact ('My wife ...', 'I live in ...'). Deterministic for one embedder and one taxonomy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.ports import Embedder, Vectors
from policies.weight_file import read_arrays
from store.errors import WeightsDamaged
from store.tables.sources import content_hash
from store.types import Subclass

EXAMPLES = Path(__file__).parent / "data" / "subclass_examples.npz"
"""Vectors of the taxonomy's examples by the built-in encoder; ``benchmarks.subclass_vectors``."""
NEAREST = 0.6
"""Weight of the nearest example against the centroid of all examples of a subclass."""
HINT = 0.25
"""What an exact wording adds to a cosine score."""

_SPOUSE = r"(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[ée]e?s?|ex-wife|ex-husband)"
_CHILD = (
    r"(?:mother|father|mum|mom|dad|mummy|daddy|parents?|son|daughter|sons|daughters|child|children"
    r"|kids?|baby|stepson|stepdaughter|stepmother|stepfather)"
)
_RELATIVE = (
    r"(?:(?:great-)?grand(?:mother|father|ma|pa|parents|son|daughter)|nan|granny|sister|brother"
    r"|sisters|brothers|siblings?|twin|aunt|uncle|cousin|nephew|niece"
    r"|(?:mother|father|brother|sister|son|daughter|parents)-in-law|in-laws|half-brother"
    r"|half-sister|godfather|godmother|godson)"
)
_FRIEND = (
    r"(?:boss|manager|supervisor|colleagues?|co-?workers?|team ?mates?|secretary|assistant"
    r"|(?:best )?friends?|neighbou?rs?|flatmate|room ?mate|housemate|client|customer|landlord"
    r"|landlady|subordinate|classmate)"
)
_TEACHER = (
    r"(?:\w+ )?(?:teacher|professor|tutor|instructor|coach|thesis supervisor|advis[eo]r|student"
    r"|pupil|lecturer)"
)
_DAY = (
    r"(?:\b\d{4}-\d\d-\d\d|\b\d{1,2}\.? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:tomorrow|tonight|today))"
)
_ABOUT = r"(?:['’]s\b|['’]|,| (?!and (?:i|we)\b))"

_HINTS: tuple[tuple[re.Pattern[str], str, float], ...] = tuple(
    (re.compile(pattern, re.I), subclass, weight)
    for pattern, subclass, weight in (
        (rf"^(?:my|our) (?:\w+ )?{_SPOUSE}{_ABOUT}", "relationship.spouse", 1.4),
        (rf"^(?:my|our) (?:\w+ )?{_CHILD}{_ABOUT}", "relationship.parents_children", 1.4),
        (rf"^(?:my|our) (?:\w+ )?{_RELATIVE}{_ABOUT}", "relationship.relatives", 1.4),
        (rf"^(?:my|our) (?:\w+ )?{_FRIEND}{_ABOUT}", "relationship.colleague_friends", 1.4),
        (rf"^(?:my|our) {_TEACHER}{_ABOUT}", "relationship.teacher_student", 1.6),
        (rf"\bis (?:my|our) (?:\w+ )?{_SPOUSE}\b", "relationship.spouse", 1.0),
        (rf"\bis (?:my|our) (?:\w+ )?{_CHILD}\b(?!['’])", "relationship.parents_children", 1.0),
        (rf"\bis (?:my|our|\w+['’]s) (?:\w+ )?{_RELATIVE}\b(?!['’])",
         "relationship.relatives", 1.0),
        (rf"\bis (?:my|our) (?:\w+ )?{_FRIEND}\b", "relationship.colleague_friends", 1.0),
        (rf"\b(?:my|our) {_CHILD}['’]s birthday\b", "relationship.parents_children", 1.0),
        (rf"\b(?:my|our) {_RELATIVE}['’]s birthday\b", "relationship.relatives", 1.0),
        (r"\banniversary\b", "event.anniversary", 1.2),
        (r"^my (?:full |first |last |middle )?name is\b|^call me\b|^my (?:nick|sur)name\b",
         "attribute.name", 1.6),
        (r"^my (?:birthday|date of birth|age)\b|^i(?: am|['’]m) (?:\w+-?){1,2} years old"
         r"|^i was born\b|^i(?: am|['’]m) \d{1,3}\.?$", "attribute.birthday", 1.6),
        (r"^i(?: am|['’]m) an? (?:man|woman|boy|girl|male|female)\b|^my (?:gender|pronouns)\b",
         "attribute.gender", 1.6),
        (r"^(?:i|we) (?:now )?(?:live|reside) (?:in|at|on|near)\b|^(?:my|our) (?:\w+ )?address\b",
         "attribute.address", 1.0),
        (r"^my (?:\w+ )?(?:phone|mobile|cell|e-?mail|telephone)(?: (?:number|address|no))?\b"
         r"(?=.*(?:\d{3}|@))", "attribute.contact", 1.2),
        (r"^my (?:\w+ )?(?:passport|id|licen[cs]e|account|policy|membership|card|tax|iban|employee)"
         r"\b.*\d", "attribute.identity", 1.0),
        (r"^i (?:work (?:as|at|for)|am employed)\b|^i(?: am|['’]m) (?:an? )?(?:\w+ )?"
         r"(?:engineer|nurse|teacher|doctor|lawyer|designer|programmer|developer|scientist|manager"
         r"|accountant|driver|cook|chef|electrician|freelancer)\b", "attribute.occupation", 0.8),
        (r"^i(?: am|['’]m) allergic\b|^my blood\b", "attribute.health", 1.0),
        (r"^i (?:have )?(?:booked|reserved)\b", "event.arrangement", 1.0),
        # What has a day and an hour is an arrangement: 'a viewing in Mill Street' is no address.
        (rf"{_DAY}.{{0,20}}\b\d{{1,2}}:\d\d\b", "event.arrangement", 1.0),
        (r"^(?:i|we)(?: am| are|['’]m|['’]re) (?:going|travell?ing|flying|meeting|visiting)\b"
         r"|^(?:i|we)(?: will|['’]ll) .*\b(?:by|on|next|tomorrow|before|at)\b|^i promised\b",
         "event.arrangement", 0.8),
        (r"^the .{2,60}\b(?:flight|train|reservation|booking|appointment|parcel|voucher|ticket"
         r"|meeting)\b", "event.arrangement", 1.0),
        (r"^(?:我|我的)?(?:老婆|妻子|老公|丈夫|男朋友|女朋友|对象)", "relationship.spouse", 1.0),
        (r"^我的?(?:爸爸?|妈妈?|父亲|母亲|儿子|女儿|孩子|父母)",
         "relationship.parents_children", 1.0),
        (r"^我的?(?:表|堂)?(?:哥哥?|弟弟?|姐姐?|妹妹?|叔叔|舅舅|阿姨|姑姑|爷爷|奶奶|外公|外婆|侄)",
         "relationship.relatives", 1.0),
        (r"^我的?(?:上司|老板|同事|下属|朋友|邻居|室友|领导)",
         "relationship.colleague_friends", 1.0),
        (r"^我的?(?:老师|学生|导师|教授)", "relationship.teacher_student", 1.0),
    )
)  # fmt: skip


class Placer:
    """Places memories in the subclasses it was made with.

    >>> Placer(SUBCLASSES, embedder).place(["My wife's name is Anna."])
    ['relationship.spouse']
    """

    def __init__(self, subclasses: Sequence[Subclass], embedder: Embedder) -> None:
        self._ids = [subclass.id for subclass in subclasses]
        self._embedder = embedder
        texts = [example for subclass in subclasses for example in subclass.examples]
        owners = [i for i, subclass in enumerate(subclasses) for _ in subclass.examples]
        self._owners = np.array(owners, dtype=np.intp)  # (E,)
        self._examples = _encoded(tuple(texts), embedder)  # (E, D)
        self._centroids = np.zeros((len(subclasses), embedder.dimension), np.float32)  # (S, D)
        for i in range(len(subclasses)):
            mean = self._examples[self._owners == i].sum(axis=0)
            length = float(np.linalg.norm(mean))
            self._centroids[i] = mean / length if length else mean

    def place(self, texts: Sequence[str]) -> list[str]:
        """The subclass id of each text, in order."""
        return self.place_vectors(texts, self._embedder.encode(texts)) if texts else []

    def place_vectors(self, texts: Sequence[str], vectors: Vectors) -> list[str]:
        """The same for texts that are encoded already."""
        return [self._ids[i] for i in self.scores(texts, vectors).argmax(axis=1)]

    def scores(self, texts: Sequence[str], vectors: Vectors) -> NDArray[np.float32]:
        """How well each text fits each subclass, shape (texts, subclasses)."""
        near = vectors @ self._examples.T  # (T, E)
        result = (1 - NEAREST) * (vectors @ self._centroids.T)  # (T, S)
        for i in range(len(self._ids)):
            own = near[:, self._owners == i]
            if own.shape[1]:
                result[:, i] += NEAREST * own.max(axis=1)
        for row, text in enumerate(texts):
            for subclass, bonus in _hints(text).items():
                if subclass in self._ids:
                    result[row, self._ids.index(subclass)] += HINT * bonus
        return np.asarray(result, dtype=np.float32)


_known: dict[tuple[str, tuple[str, ...]], Vectors] = {}


def _encoded(texts: tuple[str, ...], embedder: Embedder) -> Vectors:
    """Vectors of the examples, made once a process: they are the same for every home.

    Those of our own taxonomy by the built-in encoder are shipped: encoding them would take longer
    than all else that the first message needs.
    """
    key = (embedder.identity, texts)
    if key not in _known:
        shipped = _shipped(embedder.identity)
        missing = [text for text in dict.fromkeys(texts) if content_hash(text) not in shipped]
        made = embedder.encode(missing) if missing else ()
        vectors = shipped | dict(zip(map(content_hash, missing), made, strict=True))
        _known[key] = np.stack([vectors[content_hash(text)] for text in texts])
    return _known[key]


def _shipped(encoder: str) -> dict[str, Vectors]:
    """The shipped vectors of an encoder, by the hash of their text; none of other encoders."""
    try:
        stored = read_arrays(EXAMPLES)
    except WeightsDamaged:
        return {}  # `doctor` names the file; what it holds is made again
    if str(stored["encoder"]) != encoder:
        return {}
    return dict(zip(stored["hashes"].tolist(), stored["vectors"], strict=True))


def _hints(text: str) -> dict[str, float]:
    """The bonus of each subclass whose exact wording the text shows."""
    found: dict[str, float] = {}
    for pattern, subclass, weight in _HINTS:
        if pattern.search(text):
            found[subclass] = max(weight, found.get(subclass, 0.0))
    return found
