"""Many memories of invented lives, for the figures at scale.

With each go messages that change it and a question that it answers.

Every memory speaks of something of its own (a person's phone number, one flight, one dish of one
restaurant), so there is exactly one right memory for each message, however many there are; among
100,000 thousands are alike in everything but a name or a number. The messages are worded otherwise
than the memories. Invariant: the same seed gives the same memories in the same order.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from agent.extraction.triples.read import triples_for
from agent.ports import Embedder, Vectors
from benchmarks.shared.common import ROOT, progress
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft, SourceKind, SourceStatus, Triple

CACHE = ROOT / "build" / "benchmarks"
NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
MOST = 100_000
BATCH = 10_000


@dataclass(frozen=True, slots=True)
class Told:
    """A memory, what may be said later that changes it, and a question that it answers."""

    memory: str
    changes: tuple[str, ...]
    question: str


_LISTS = {
    "first": "Aino Bruno Carla Dmitri Elif Farid Greta Hugo Ines Jonas Kofi Leila Marta Nils Oksana"
    " Pavel Quentin Rosa Samir Tove Umar Vera Wei Ximena Yusuf Zoe Anton Bea Cyril Dalia Emil Fiona"
    " Goran Hana Ivo Jana Karim Lucia Milan Nadia Otto Petra Rafael Selma Tariq Ulla Viktor Wanda"
    " Yara Zdenek Amara Boris Chiara Dev Esra Felix Gita Henrik Ilse Jamal",
    "last": "Abel Bakker Castro Dahl Eriksen Fischer Garcia Haddad Ivanov Jansen Kaya Lindqvist"
    " Moreau Novak Okafor Petrov Quist Rossi Schmidt Tanaka Ueda Vogel Wagner Xu Yilmaz Zimmermann"
    " Adeyemi Bianchi Chen Duarte Egede Farrell Gruber Holm Iqbal Jensen Kowalski Laurent Mensah"
    " Nakamura Olsen Park Ramos Sato Toth Urban Varga Weiss Yamada Zeman Aalto Brandt Conti Demir"
    " Engel Fontaine Greco Horvat Ito Juhl Keller Lopes Marin Nguyen Ortiz Popov Ruiz Silva Thorne"
    " Ulrich Virtanen Walsh Young Zhou Amsel Bauer Costa Dubois Ek Fabian Gomez Hansen Ilic Jovic",
    "city": "Oslo Porto Gdansk Leeds Lyon Turin Ghent Malmo Graz Split Seville Cork Bergen Utrecht"
    " Basel Nantes Brno Tartu Kaunas Izmir Fez Accra Pune Hanoi Busan Osaka Perth Quito Lima Austin"
    " Denver Boston Halifax Calgary Oaxaca Bogota Durban Nairobi Tunis Haifa",
    "job": "nurse/baker/translator/plumber/architect/pharmacist/violinist/bus driver/chemist/"
    "gardener/lawyer/welder/photographer/midwife/surveyor/tailor/librarian/pilot/vet/optician",
    "food": "mushrooms/coriander/blue cheese/oysters/rice pudding/aubergines/herring/liquorice/"
    "pumpkin soup/goat curry/dumplings/falafel/rhubarb cake/olives/chestnuts/tofu/lentils/sushi",
    "sport": "badminton/rowing/fencing/volleyball/ice hockey/judo/squash/orienteering/water polo/"
    "archery/table tennis/handball/bouldering/cycling/sailing",
    "place": "Red Heron/Old Anchor/Blue Lantern/Copper Kettle/Silver Fork/Green Door/Paper Crane/"
    "Iron Bridge/White Stag/Quiet Corner/Salt Cellar/Velvet Room/Stone Oven/Golden Pear/Windmill/"
    "Harbour Light/Black Cat/Lemon Tree/Little Owl/Seven Steps",
    "dish": "ramen/lamb shank/paella/risotto/pho/bibimbap/fish pie/moussaka/tagine/goulash/"
    "pad thai/tiramisu/onion soup/laksa/pierogi/carbonara",
    "thing": "bicycle/camera/raincoat/armchair/backpack/watch/guitar/kettle/tent/desk lamp/sewing"
    " machine/printer/rug/wheelbarrow/telescope/suitcase",
    "brand": "Arvo Belmont Corvus Delphi Eikon Fjord Gallo Hexa Iriso Juno Kestrel Lumo Mistral"
    " Norda Orbis Pallas Quanta Rondo Sirius Tundra",
    "colour": "red blue black green silver yellow orange white brown purple",
    "month": "January February March April May June July August September October November"
    " December",
    "doctor": "dentist/physiotherapy/eye/skin/hearing/vaccination/cardiology/orthopaedic",
    "topic": "budget/hiring/roof repair/website/summer fair/tax/insurance/warehouse/choir tour/"
    "kitchen/merger/school trip/safety/catering/archive/parking",
    "room": "Aula/Birch/Cedar/Delta/Elm/Forum/Gallery/Hall/Ivy/Juniper",
    "firm": "Bank/Insurance/Logistics/Clinic/Press/Energy/Foods/Textiles/Robotics/Travel",
    "genre": "novel/cookbook/biography/poetry collection/travel guide/thriller",
}
_VALUES = {
    name: tuple(listed.split("/") if "/" in listed else listed.split())
    for name, listed in _LISTS.items()
}

# share ; key ; memory ; changes ; question. {x} is drawn for the memory, {x2} is another value of
# the same list for the message. The key is what the memory is about: no two memories share it.
_SHAPES = tuple(
    (
        int(share),
        key.strip(),
        memory.strip(),
        tuple(c.strip() for c in changes.split("/")),
        question,
    )
    for share, key, memory, changes, question in (
        line.split(";")
        for line in """
8;{first} {last} phone;{first} {last}'s phone number is {phone}.;{first} {last} has a new number, {phone2}./You reach {first} {last} under {phone2} now.;What is {first} {last}'s phone number?
8;{first} {last} job;{first} {last} works as a {job} in {city}.;{first} {last} is no longer a {job}./{first} {last} found a new position as a {job2}.;What does {first} {last} do for a living?
8;{first} {last} home;{first} {last} lives in {city}.;{first} {last} has moved to {city2}./The new home of {first} {last} is in {city2}.;Where does {first} {last} live?
6;{first} {last} birthday;{first} {last}'s birthday is on {day} {month}.;I noted the wrong day: {first} {last} was born on {day2} {month}./We celebrate {first} {last} on {day2} {month2} from now on.;When is {first} {last}'s birthday?
6;{first} {last} {food};{first} {last} does not eat {food}.;{first} {last} eats {food} again./{first} {last} has come to like {food}.;Does {first} {last} eat {food}?
4;{first} {last} {sport};I play {sport} with {first} {last} on Mondays.;{first} {last} and I have moved {sport} to Fridays./I stopped playing {sport} with {first} {last}.;On which day do I play {sport} with {first} {last}?
9;{doctor} {last} {day} {month};I have a {doctor} appointment with Dr {last} on {day} {month} at {hour}:00.;The {doctor} appointment with Dr {last} on {day} {month} is now at {hour2}:30./Dr {last} has cancelled the {doctor} appointment of {day} {month}.;At what time do I see Dr {last} for my {doctor} appointment on {day} {month}?
9;{code};The {code} flight to {city} departs at {hour}:15 on {day} {month}.;{code} is delayed and leaves at {hour2}:50./My flight {code} has been cancelled.;When does the {code} flight to {city} leave?
7;{topic} {day} {month} {room};The {topic} meeting on {day} {month} is in room {room}.;We meet in room {room2} instead for the {topic} on {day} {month}./The {topic} meeting of {day} {month} has been called off.;Which room is the {topic} meeting of {day} {month} in?
7;{dish} {place} {city};I like the {dish} at the {place} in {city}.;The {dish} of the {place} in {city} has become too salty for me./I no longer order {dish} when I am at the {place} in {city}.;Do I like the {dish} at the {place} in {city}?
6;{colour} {brand} {thing};I bought a {colour} {brand} {thing} for {price} euros.;I sold the {colour} {thing} by {brand}./My {brand} {thing}, the {colour} one, got stolen.;How much did I pay for the {colour} {brand} {thing}?
6;{last} {firm} {city};My customer number at {last} {firm} in {city} is {number}.;{last} {firm} in {city} gave me a new customer number, {number2}./I am no longer a customer of {last} {firm} in {city}.;What is my customer number at {last} {firm} in {city}?
6;{first} {last} {genre};I am reading a {genre} by {first} {last}.;I have finished the {genre} {first} {last} wrote./I gave up on that {genre} of {first} {last}'s.;Am I reading a {genre} by {first} {last}?
6;{first} {last} {month} {year};I met {first} {last} in {city} in {month} {year}.;It was in {city2} that I met {first} {last} in {month} {year}./I did not meet {first} {last} before {month2} {year}.;Where did I meet {first} {last} in {month} {year}?
4;{place} {city} seat;My favourite table at the {place} in {city} is number {table}.;I prefer table {table2} when I go to the {place} in {city}./The {place} in {city} has closed, so my table is gone.;Which table do I like best at the {place} in {city}?
""".strip().splitlines()  # noqa: E501  (a table: one shape a line)
    )
)


_NAMES = frozenset(v for name in ("last", "city", "brand", "topic") for v in _VALUES[name])
_WORD = re.compile(r"\w+")
ENDINGS = ("a", "en", "i", "o", "ov", "ez", "er", "us", "by")


def _is_name(word: str) -> bool:
    return word in _NAMES or (word[:2].isupper() and word[2:].isdigit())


def memories(count: int, seed: int = 0) -> list[Told]:
    """``count`` memories, no two about the same thing."""
    rng = random.Random(seed)
    shares = [shape[0] for shape in _SHAPES]
    taken: set[str] = set()
    made: list[Told] = []
    while len(made) < count:
        _, key, memory, changes, question = rng.choices(_SHAPES, shares)[0]
        drawn = _draw(rng)
        about = key.format(**drawn)
        if about not in taken:
            taken.add(about)
            said = tuple(change.format(**drawn) for change in changes)
            made.append(Told(memory.format(**drawn), said, question.format(**drawn)))
    return made


def renamed(text: str, ending: str) -> str:
    """The same of people, places and things whose names end otherwise."""
    return _WORD.sub(lambda found: found[0] + (ending if _is_name(found[0]) else ""), text)


def relatives(texts: Sequence[str], count: int) -> list[str]:
    """``count`` memories: those given, then the same of others (``renamed``)."""
    made = list(texts)
    for ending in ENDINGS:
        made += [renamed(text, ending) for text in texts[: count - len(made)]]
    return made[:count]


def mixed(known: Vectors, count: int, seed: int = 0) -> Iterator[Vectors]:
    """``count`` vectors in blocks: those known, then mixes of two of them that are near."""
    import faiss

    yield known[:count]
    rng = np.random.default_rng(seed)
    index = faiss.IndexFlatIP(known.shape[1])
    index.add(known)
    _, near = index.search(known, 10)
    for start in range(len(known), count, BATCH):
        rows = rng.integers(0, len(known), min(BATCH, count - start))
        other = near[rows, rng.integers(1, 10, len(rows))]
        share = rng.uniform(0.3, 0.7, (len(rows), 1)).astype(np.float32)
        made = share * known[rows] + (1 - share) * known[other]
        yield (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def _draw(rng: random.Random) -> dict[str, object]:
    drawn: dict[str, object] = {}
    for name, values in _VALUES.items():
        drawn[name], drawn[f"{name}2"] = rng.sample(values, 2)
    for name, least, most in (
        ("day", 1, 28), ("hour", 7, 19), ("price", 20, 900), ("table", 1, 40), ("year", 1990, 2024),
        ("number", 100_000, 999_999),
    ):  # fmt: skip
        drawn[name], drawn[f"{name}2"] = rng.sample(range(least, most + 1), 2)
    for name in ("phone", "phone2"):
        drawn[name] = f"0{rng.randrange(10**8, 10**9)}"
    letters = "".join(rng.choices("ABCDEFGHKLMNPRSTUVWXYZ", k=2))
    drawn["code"] = f"{letters}{rng.randrange(100, 9999)}"
    return drawn


def encoded(texts: Sequence[str], embedder: Embedder, batch: int = 4096) -> Vectors:
    """Vectors of the texts, kept under ``build/benchmarks``: 100,000 take minutes to make."""
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    path: Path = CACHE / f"many-{embedder.identity.replace(':', '-')}-{digest}.npy"
    if path.exists():
        return np.asarray(np.load(path), dtype=np.float32)
    parts = []
    for start in range(0, len(texts), batch):
        parts.append(embedder.encode(texts[start : start + batch]))
        progress(f"encoded {min(start + batch, len(texts)):,} of {len(texts):,}")
    vectors = np.concatenate(parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, vectors)
    return vectors


def build_home(
    home: Path,
    texts: Sequence[str],
    vectors: Vectors,
    subclasses: Sequence[str],
    model: str,
    triples: Sequence[Sequence[Triple]] | None = None,
) -> None:
    """Store memories in a new home, as a few large sources; relations come from exact patterns."""
    triples = triples_for(texts, None) if triples is None else triples
    with MemoryGraph.open(home) as graph:
        for start in range(0, len(texts), BATCH):
            rows = range(start, min(start + BATCH, len(texts)))
            source = graph.sources.add(SourceKind.NOTE, f"note {start // BATCH}", NOW)
            graph.sources.mark(source.id, SourceStatus.EXTRACTED)
            drafts = [
                Draft(texts[row], subclasses[row], NOW, tuple(triples[row]), source=source.id)
                for row in rows
            ]
            graph.apply(
                [Insert(draft) for draft in drafts],
                at=NOW,
                source=source.id,
                model=model,
                vectors={texts[row]: vectors[row] for row in rows},
            )
            progress(f"stored {rows[-1] + 1:,} of {len(texts):,}")
