"""Forms in simulated lives: what goes into each field at the end of each of four weeks.

A life of ``lives_world`` is told day by day (gold memories, edited by the product), with what
``autofill_people`` adds; at the end of each week every form is filled. *exact* is the share of
fields with a value that holds then whose value is written exactly as the field wants it, *wrong*
the share of fields that must stay empty and do not, *stale* the share of changed facts where a
value was written that no longer holds (or not yet).
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from agent.answering.notes.gather import DOUBTED
from agent.applications.forms.autofill import fill
from agent.applications.forms.fields import FormField
from agent.applications.forms.formats.open_form import fields_from_labels, open_form
from agent.memory.remember import store_drafts
from agent.memory.time.changed import possibly_newer
from agent.results import FilledField
from agent.session.session import Session
from benchmarks.quality.uses.autofill_people import PEOPLE, FormSheet, Meant, People
from benchmarks.shared.common import progress
from benchmarks.shared.simulated_lives.lives import BANKS, fresh, gold_draft
from benchmarks.shared.simulated_lives.lives_world import DAY, WEEKS, Life, Told, write_life
from store.types import SourceKind, Triple

_REPLACED = frozenset({"home", "employer", "email", "mobile"})
"""Topics of the banks that ``autofill_people`` tells in more detail."""


@dataclass(frozen=True, slots=True)
class Week:
    """What holds at its end, by fact, and what held before."""

    end: datetime
    holds: Mapping[str, Meant]
    other: Mapping[str, frozenset[str]]


def figures(models: Session, seeds: int, *, show: bool) -> dict[str, float | int | None]:
    """Every figure of both banks; ``show`` lists what went wrong in the training bank."""
    found: dict[str, float | int | None] = {}
    for bank in BANKS:
        shares: list[float] = []
        tally: Counter[str] = Counter()
        for seed in range(seeds):
            one = _counted(bank, seed, models, show=show and bank == "train")
            shares.append(one["right"] / one["fields"])
            tally += one
        shares.sort()
        found |= {
            f"lives_{bank}_fields": tally["fields"],
            f"lives_{bank}_exact_match": tally["right"] / tally["fields"],
            f"lives_{bank}_exact_match_worst_seed": shares[0],
            f"lives_{bank}_stale": tally["stale"] / tally["fields"],
            f"lives_{bank}_must_stay_empty": tally["empty"],
            f"lives_{bank}_wrong_fills": tally["wrong"] / tally["empty"],
            f"lives_{bank}_values_without_evidence": tally["bare"],
        }
    return found


def _counted(bank: str, seed: int, models: Session, *, show: bool) -> Counter[str]:
    """One life: all its forms at the end of each week."""
    people = PEOPLE[bank]
    life, weeks = life_of(bank, seed)
    tally: Counter[str] = Counter()
    for week, (sheet, results) in _filled(life, weeks, people, models):
        for result in results:
            wanted = _gold(sheet.gold[result.name], week)
            tally["bare"] += result.value is not None and not result.memories
            if wanted is None:
                tally["empty"] += 1
                tally["wrong"] += result.value is not None
            else:
                tally["fields"] += 1
                right = str(result.value) == wanted
                fact = (sheet.gold[result.name] or "").partition(".")[0]
                tally["right"] += right
                tally["stale"] += not right and str(result.value) in week.other[fact]
            if show and (None if result.value is None else str(result.value)) != wanted:
                progress(f"{seed} {week.end:%m-%d} {result.name}: {result.value!r}, not {wanted!r}")
    return tally


def life_of(bank: str, seed: int) -> tuple[Life, list[Week]]:
    """A life with the person's facts told in it, and what holds at the end of each week."""
    people = PEOPLE[bank]
    topics = [t for t in BANKS[bank].topics if t.name not in _REPLACED]
    told = (*people.topics, *topics)
    whole = replace(BANKS[bank], topics=told, fields=tuple((t.name, t.name) for t in told))
    life = write_life(whole, seed)
    rng = random.Random(f"people {bank} {seed}")
    begun = min(one.at for one in life.told).replace(hour=9, minute=0)
    constant: dict[str, Meant] = {}
    for number, fact in enumerate(people.stays):
        value = rng.choice(fact.values)
        constant[fact.name] = value
        text = rng.choice(fact.tell).format(v=value.said)
        triples = (Triple(fact.head, fact.relation, value.said),)
        at = begun + rng.randint(0, 3) * DAY
        life.told.append(
            Told(f"p{number}", at, text, text, SourceKind.CHAT, fact.subclass, triples)
        )
    life.told.sort(key=lambda one: one.at)
    weeks: list[Week] = []
    for week in range(WEEKS):
        asked = [a for a in life.asked if a.kind == "form" and a.week == week]
        holds = {a.text: _meant(people, next(iter(a.right))) for a in asked}
        other = {a.text: frozenset(w for v in a.wrong for w in _all(people, v)) for a in asked}
        none = dict.fromkeys(constant, frozenset[str]())
        weeks.append(Week(asked[0].at, {**holds, **constant}, {**other, **none}))
    return life, weeks


def _meant(people: People, said: str) -> Meant:
    return people.meant.get(said, Meant(said, {}))


def _all(people: People, said: str) -> tuple[str, ...]:
    return (said, *_meant(people, said).parts.values())


def _gold(fact: str | None, week: Week) -> str | None:
    if fact is None:
        return None
    name, _, part = fact.partition(".")
    value = week.holds[name]
    return (value.parts[part] if part else value.said) or None


def _filled(
    life: Life, weeks: list[Week], people: People, models: Session
) -> Iterator[tuple[Week, tuple[FormSheet, tuple[FilledField, ...]]]]:
    """Tell the life as it goes, and fill every form at the end of each week."""
    waiting = list(life.told)
    with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as session:
        for week in weeks:
            while waiting and waiting[0].at <= week.end:
                told = waiting.pop(0)
                source = session.graph.sources.add(told.kind, told.raw, told.at)
                draft = gold_draft(told, source.id)
                store_drafts([draft], source, session.graph, session, told.at)
            memories = session.graph.memories.list()
            newer = possibly_newer(memories, session.graph, least=DOUBTED, by=week.end)
            for sheet in people.sheets:
                results = fill(
                    _fields(sheet), memories, embedder=models.embedder, now=week.end, newer=newer
                )
                yield week, (sheet, results)


def _fields(sheet: FormSheet) -> tuple[FormField, ...]:
    if sheet.kind == "labels":
        return fields_from_labels(sheet.source.split("|"))
    return open_form(sheet.source, kind=sheet.kind).fields
