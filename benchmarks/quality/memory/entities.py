"""Who is who and what is one event: pairwise precision and recall on sentences we wrote.

``python -m benchmarks.entities`` needs no data set and no model. Two mentions are a pair where they
mean one person, or two memories where they tell of one event. The yardstick is what the graph does
without either: two names are one where they are the same in lower case, and two memories are of one
event where their relations share such a name. ``samples/entities_own.txt`` has a development half,
which was looked at while the rules were written, and a test half, which no rule was made for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import combinations
from pathlib import Path
from time import perf_counter

from agent.extraction.triples.read import triples_for
from agent.memory.editing.plan import plan_edits
from agent.memory.entities.events import events
from agent.memory.entities.identity import Identities
from benchmarks.shared.common import SAMPLES, parser, write_results
from store.derived.partitions import NearMemory
from store.journal import Expire, Replace
from store.row_codecs import entity_key
from store.tables.taxonomy import SUBCLASSES
from store.types import Draft, Memory, Status

SAMPLE = SAMPLES / "entities_own.txt"
START = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence, when and where it was told, and what it should be taken for."""

    source: str
    gold: str
    text: str
    said: datetime


@dataclass(frozen=True, slots=True)
class Story:
    """Sentences of one invented life."""

    about: str
    half: str
    lines: tuple[Line, ...]


def stories(path: Path = SAMPLE) -> Iterator[Story]:
    """The stories of a sample file."""
    for block in path.read_text(encoding="utf-8").split("\n## ")[1:]:
        head, *rows = block.strip().splitlines()
        about, half = head.split()
        said, lines = START, []
        for row in rows:
            source, gold, text = (part.strip() for part in row.split("|"))
            said += timedelta(days=1) if text.startswith("+") else timedelta(minutes=1)
            lines.append(Line(source, gold, text.lstrip("+ "), said))
        yield Story(about, half, tuple(lines))


def remembered(story: Story) -> list[Memory]:
    """The story's memories after exact editing: a new boss ends the old one, as it does at home."""
    stored: dict[str, Memory] = {}
    by_id = {subclass.id: subclass for subclass in SUBCLASSES}
    for number, line in enumerate(story.lines, 1):
        triples = triples_for([line.text], None)[0]
        subclass = "relationship.relatives" if story.about == "people" else "event.arrangement"
        draft = Draft(line.text, subclass, line.said, triples=triples, source=line.source)
        old = [NearMemory(m, 0.5) for m in stored.values() if m.holds_at(line.said)]
        ended = old if story.about == "people" else []
        for edit in plan_edits([draft], partial(_these, ended), by_id).edits:
            if isinstance(edit, Replace | Expire):
                before = stored[edit.memory]
                stored[edit.memory] = replace(before, status=Status.REPLACED, valid_until=line.said)
        stored[f"m{number}"] = Memory(
            f"m{number}",
            line.text,
            "Relationship" if story.about == "people" else "Event",
            subclass,
            line.said,
            triples=triples,
            source=line.source,
        )
    return list(stored.values())


def _these(matches: Sequence[NearMemory], _: Draft) -> Sequence[NearMemory]:
    return matches


Cluster = Mapping[str, str]
"""An item (a mention, a memory) -> the entity or event that it is taken for."""


def people(story: Story) -> tuple[Cluster, Cluster, Cluster]:
    """Mentions of people: as they are, as memlane takes them, and by the yardstick."""
    known = Identities(remembered(story), story.lines[-1].said)
    gold, ours, plain = {}, {}, {}
    for number, line in enumerate(story.lines):
        for name, person in _mentions(line.gold):
            item = f"{number} {name}"
            gold[item], ours[item] = person, known.who(name, line.said)
            plain[item] = entity_key(name)
    return gold, ours, plain


def _mentions(gold: str) -> Iterator[tuple[str, str]]:
    words: list[str] = []
    for word in gold.split():
        name, equals, person = word.partition("=")
        words.append(name)
        if equals:
            yield " ".join(words), person
            words = []


def happenings(story: Story) -> tuple[Cluster, Cluster, Cluster]:
    """Memories of events: as they are, as memlane takes them, and by the yardstick."""
    memories = remembered(story)
    gold = {m.id: line.gold for m, line in zip(memories, story.lines, strict=True)}
    gold = {key: key if event == "-" else event for key, event in gold.items()}
    ours = {memory.id: memory.id for memory in memories}
    for event in events(memories, Identities(memories, story.lines[-1].said)):
        ours.update(dict.fromkeys(event.memories, event.memories[0]))
    plain: dict[str, str] = {}
    for memory in memories:
        said = _ends(memory)
        same = (plain[m.id] for m in memories if m.id in plain and said & _ends(m))
        plain[memory.id] = next(same, memory.id)
    return gold, ours, plain


def _ends(memory: Memory) -> set[str]:
    ends = {entity_key(end) for t in memory.triples for end in (t.head, t.tail)}
    return ends - {"me"}


def pairs(cluster: Cluster) -> set[frozenset[str]]:
    """The pairs of items that are taken for one."""
    return {
        frozenset(pair) for pair in combinations(cluster, 2) if cluster[pair[0]] == cluster[pair[1]]
    }


def scores(counted: Sequence[tuple[Cluster, Cluster]]) -> tuple[float, float]:
    """Pairwise precision and recall over several stories."""
    right = wrong = missed = 0
    for gold, found in counted:
        are, said = pairs(gold), pairs(found)
        right, wrong, missed = (
            right + len(are & said),
            wrong + len(said - are),
            missed + len(are - said),
        )
    return right / max(1, right + wrong), right / max(1, right + missed)


def main() -> None:
    options = parser("entities", __doc__ or "").parse_args()
    figures: dict[str, float | int | None] = {}
    for about, take in (("people", people), ("events", happenings)):
        for half in ("dev", "test"):
            chosen = [story for story in stories() if (story.about, story.half) == (about, half)]
            start = perf_counter()
            taken = [take(story) for story in chosen]
            each = (perf_counter() - start) * 1000 / sum(len(story.lines) for story in chosen)
            ours = scores([(gold, found) for gold, found, _ in taken])
            plain = scores([(gold, found) for gold, _, found in taken])
            name = f"{about}, {half}"
            figures[f"{name}: pairs"] = sum(len(pairs(gold)) for gold, _, _ in taken)
            figures[f"{name}: precision"], figures[f"{name}: recall"] = ours
            figures[f"{name}: precision, yardstick"] = plain[0]
            figures[f"{name}: recall, yardstick"] = plain[1]
            figures[f"{name}: ms a sentence"] = each
    for key, value in figures.items():
        print(f"{key:45} {value:.3f}" if isinstance(value, float) else f"{key:45} {value}")
    write_results("entities", {"quick": options.quick, "sample": SAMPLE.name}, [], figures)


if __name__ == "__main__":
    main()
