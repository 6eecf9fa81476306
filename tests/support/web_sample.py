"""A home to look at: Lena and what ``memlane demo`` plays with, invented for tests.

``python -m tests.support.web_sample docs/web.png`` draws the picture of docs/web.md from it.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from store.graph import MemoryGraph
from store.journal import Amend, Insert, Replace
from store.types import Draft, SourceKind, SourceStatus, Triple

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
NOTE = """# Hotel in Amsterdam

I booked the Crowne Plaza near Central Station for my boss.
The Crowne Plaza reservation is for 2024-05-12 to 2024-05-18.
The Crowne Plaza reservation includes a Queen Bed Standard Accessible room with breakfast.
"""

# Days before NOW, subclass and sentence; below it what it joins: head > relation > tail; ...
_TOLD = """
2 event.arrangement: I booked the EK349 flight to Amsterdam for my boss.
  me > booked > EK349; EK349 > goes to > Amsterdam; Daniel Okafor > flies with > EK349
2 event.arrangement: The EK349 flight departs at 01:40 on 2024-05-12.
  EK349 > departs at > 01:40
1 event.arrangement: The seat for the EK349 flight is 23A.
  EK349 > seat > 23A
1 event.arrangement: The Crowne Plaza dinner voucher is valid until May 14, 2024.
  dinner voucher > valid until > May 14; Crowne Plaza > gives > dinner voucher
30 relationship.colleague_friends: My boss is Daniel Okafor.
  me > boss > Daniel Okafor
30 relationship.colleague_friends: Daniel Okafor drinks his coffee black.
  Daniel Okafor > drinks > black coffee
95 relationship.spouse: My partner Jonas teaches music at the Rosenhof school.
  me > partner > Jonas; Jonas > teaches at > Rosenhof school
96 relationship.spouse: Jonas is allergic to hazelnuts.
  Jonas > allergic to > hazelnuts
97 relationship.spouse: Jonas plays the cello in the Kammerchor evenings.
  Jonas > plays > cello; Jonas > member of > Kammerchor
120 relationship.parents_children: My mother Ingrid lives in Bergen.
  me > mother > Ingrid; Ingrid > lives in > Bergen
121 relationship.parents_children: My daughter Mia is in the second grade of the Rosenhof school.
  me > daughter > Mia; Mia > goes to > Rosenhof school
40 relationship.parents_children: Mia is afraid of thunder.
  Mia > afraid of > thunder
60 relationship.colleague_friends: Priya and I run along the canal on Thursdays.
  me > friend > Priya; Priya > runs along > the canal; me > runs along > the canal
62 relationship.colleague_friends: Priya works at the botanical garden.
  Priya > works at > botanical garden
200 relationship.colleague_friends: Tomás moved to Lisbon to open a bakery.
  me > friend > Tomás; Tomás > lives in > Lisbon; Tomás > opened > a bakery
15 event.arrangement: Mia's school concert is on 2024-06-07 at 17:00.
  Mia > concert > 7 June 17:00; concert > takes place at > Rosenhof school
8 event.arrangement: I have a dentist appointment with Dr. Weiss on 2024-05-21.
  me > appointment with > Dr. Weiss
75 event.arrangement: We spent Easter with Ingrid in Bergen.
  me > spent Easter in > Bergen; me > visited > Ingrid
210 event.arrangement: I visited Tomás in Lisbon last October.
  me > visited > Lisbon; me > visited > Tomás
300 event.life: I finished the Müggelsee half marathon in 1:58.
  me > finished > Müggelsee half marathon
20 preference.diet: I like my tea green and without sugar.
  me > likes > green tea
55 preference.diet: My favourite place for lunch is the Vietnamese kitchen on Weserstraße.
  me > lunches at > Vietnamese kitchen
140 preference.culture: I listen to Bach when I have to think.
  me > listens to > Bach
141 preference.other: I prefer window seats on long flights.
  me > prefers > window seats
170 preference.other: I read novels by Elena Ferrante on holidays.
  me > reads > Elena Ferrante
33 preference.other: I would rather take the train than fly to Bergen.
  me > prefers > the train
250 attribute.address: I live at Lindenallee 4 in Berlin.
  me > lives in > Berlin; me > address > Lindenallee 4
251 attribute.occupation: I plan travel and events at Nordlicht Studio.
  me > works at > Nordlicht Studio; Daniel Okafor > works at > Nordlicht Studio
252 attribute.contact: My work number is 030 5550 114.
  me > work number > 030 5550 114
253 attribute.belongings: My bicycle is a green Diamant with a basket.
  me > owns > green Diamant
254 attribute.education: I speak German, Norwegian and English.
  me > speaks > German; me > speaks > Norwegian; me > speaks > English
255 attribute.health: I take iron tablets in the morning.
  me > takes > iron tablets
"""


def fill(graph: MemoryGraph) -> None:
    """A life of a few dozen memories: told, noted, corrected, replaced, answered."""
    lines = _TOLD.strip().splitlines()
    told = list(zip(lines[::2], lines[1::2], strict=True))
    for head, joins in sorted(told, key=lambda pair: -int(pair[0].split()[0])):
        days, subclass, text = head.split(" ", 2)
        said = NOW - timedelta(days=int(days), minutes=len(text))
        source = graph.sources.add(SourceKind.CHAT, text, said)
        triples = tuple(_triple(join) for join in joins.split(";"))
        draft = Draft(text, subclass.rstrip(":"), said, triples, source=source.id)
        graph.apply([Insert(draft)], at=said, source=source.id)
        graph.sources.mark(source.id, SourceStatus.EXTRACTED)
    _note(graph)
    _changes(graph)
    _answer(graph)


def _triple(join: str) -> Triple:
    head, relation, tail = (part.strip() for part in join.split(">"))
    return Triple(head, relation.replace(" ", "_"), tail)


def _note(graph: MemoryGraph) -> None:
    """The hotel, as ``memlane demo`` reads it from its note."""
    from agent.extraction.source_spans import SourceMap

    said = NOW - timedelta(days=1)
    source = graph.sources.add(SourceKind.NOTE, NOTE, said, locator="/home/lena/notes/hotel.md")
    lines = [line for line in NOTE.splitlines() if line and not line.startswith("#")]
    joins = [
        (Triple("me", "booked", "Crowne Plaza"), Triple("Crowne Plaza", "is_in", "Amsterdam")),
        (Triple("Crowne Plaza", "reserved_for", "12 to 18 May"),),
        (Triple("Crowne Plaza", "room", "Queen Bed Standard"),),
    ]
    where = SourceMap(source)
    for line, triples in zip(lines, joins, strict=True):
        draft = Draft(
            line, "event.arrangement", said, triples, source=source.id, span=where.locate(line)
        )
        graph.apply([Insert(draft)], at=said, source=source.id)
    graph.sources.mark(source.id, SourceStatus.EXTRACTED)


def _changes(graph: MemoryGraph) -> None:
    """The departure moves, and a spelling is put right."""
    (flight,) = graph.memories.saying("The EK349 flight departs at 01:40 on 2024-05-12.")
    text = "The EK349 flight departs at 01:30 on 2024-05-12 now."
    source = graph.sources.add(SourceKind.CHAT, text, NOW)
    triples = (Triple("EK349", "departs_at", "01:30"),)
    draft = Draft(text, "event.arrangement", NOW, triples, source=source.id)
    graph.apply([Replace(flight.id, draft)], at=NOW, source=source.id)
    (seat,) = graph.memories.saying("The seat for the EK349 flight is 23A.")
    graph.apply([Amend(seat.id, place="Nordlicht Studio")], at=NOW, actor="user")
    for waiting in graph.sources.list(SourceStatus.PENDING):
        graph.sources.mark(waiting.id, SourceStatus.EXTRACTED)


def _answer(graph: MemoryGraph) -> None:
    """What time is my boss's flight?"""
    (departs,) = graph.memories.saying("The EK349 flight departs at 01:30 on 2024-05-12 now.")
    (booked,) = graph.memories.saying("I booked the EK349 flight to Amsterdam for my boss.")
    (boss,) = graph.memories.saying("My boss is Daniel Okafor.")
    (seat,) = graph.memories.saying("The seat for the EK349 flight is 23A.")
    steps = [
        {"memory": booked.id, "score": 0.81, "probability": 0.97, "chosen": True,
         "activated": True, "why": "named in the question"},
        {"memory": departs.id, "score": 0.74, "probability": 0.94, "chosen": True,
         "via": booked.id, "why": "shares EK349"},
        {"memory": boss.id, "score": 0.58, "probability": 0.62, "chosen": True,
         "via": booked.id, "why": "shares my boss"},
        {"memory": seat.id, "score": 0.41, "probability": 0.18, "chosen": False,
         "via": booked.id, "why": "below the threshold"},
    ]  # fmt: skip
    trace = {
        "memories": [booked.id, departs.id],
        "policy": "walk",
        "steps": steps,
        "likely": 0.93,
    }
    graph.turns.log(
        NOW,
        "What time is my boss's flight to Amsterdam?",
        "retrieve",
        "At 01:30 on 12 May 2024, with EK349.",
        trace,
    )


def picture(path: Path) -> None:
    """The page with this home, as a person sees it who looks for the flight."""
    from PIL import Image

    from agent.config import load_config
    from agent.server.resident.client import Client
    from agent.server.resident.paths import Place
    from tests.support.browsers import browsing
    from tests.support.residents import started

    with TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with MemoryGraph.open(home) as graph:
            fill(graph)
        with started(home), browsing() as page:
            client = Client(load_config({"home": str(home)}, now=NOW), Place(home).socket)
            (opened,) = client.web()
            page.goto(opened.link or "")
            page.fill("#search", "departs now")
            page.locator(".hits .hit").first.click()
            page.wait_for_selector(".life")
            page.wait_for_timeout(1500)  # until everything has faded in
            page.screenshot(path=path)
    with Image.open(path) as taken:
        # Few colours: a third of the bytes, and nobody sees it.
        taken.convert("RGB").quantize(192, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    picture(Path(sys.argv[1]))
