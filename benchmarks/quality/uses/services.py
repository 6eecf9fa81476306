"""Reminders and travel on simulated lives: exact match of key entities (EMG-RAG 4.4, Table 2).

The lives of ``benchmarks.lives`` with what they lack for the services (``services_bank``):
birthdays, habits, deadlines, addresses that change, nicknames. Measured *given right extraction*:
gold memories are stored as they are told; the product plans and applies the edits. At the end of
each of four weeks:

- ``reminder_em``: of all that comes in the next 14 days, the share that a reminder gives with the
  exact day and time and names exactly; ``reminder_precision``: of all reminders given, the share
  that is right, so that what was moved, ended or replaced counts against it.
- ``travel_em``: of destinations with an address (people, places, nicknames, what leads on to
  another memory, events), the share answered with exactly the address that holds; ``invented``: of
  destinations that nobody told of, the share answered all the same.

Yardsticks get the same gold memories without edits: ``top-k`` reads the K nearest to a question
with the product's own rules (and always names the nearest place, so it invents for everybody that
nobody told of), ``all`` reads every memory. ``services_llm`` adds the local language model.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from agent.applications.services.places import event_place, places_in
from agent.applications.services.reminders import coming, reminders
from agent.applications.services.travel import travel
from agent.config import load_config
from agent.errors import NotRemembered
from agent.language.dates import resolve_text
from agent.memory.entities.identity import Identities
from agent.memory.remember import store_drafts
from agent.ports import ChatTurn, Vectors
from agent.session.session import Session, open_session
from benchmarks.quality.uses.services_bank import BANKS
from benchmarks.quality.uses.services_world import DAY, Due, World, write_world
from benchmarks.shared.common import parser, progress
from benchmarks.shared.simulated_lives.lives import Tally, fresh, gold_draft, report, states
from benchmarks.shared.simulated_lives.lives_world import Told
from store.types import Memory

DAYS = 14
K = 10
COMING = "Which appointments, birthdays, anniversaries, deadlines and habits are coming up?"


# ---- measuring ------------------------------------------------------------------------------


def run_world(world: World, models: Session, tally: Tally, bank: str, *, llm: bool, show: bool
              ) -> None:  # fmt: skip
    """Count the product and the yardsticks at the end of each week."""
    texts = [resolve_text(told.text, told.at) for told in world.told]
    vectors = models.embedder.encode(texts)
    with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as session:
        waiting = list(world.told)
        for now in world.ends:
            while waiting and waiting[0].at <= now:
                told = waiting.pop(0)
                source = session.graph.sources.add(told.kind, told.raw, told.at)
                draft = gold_draft(told, source.id)
                store_drafts([draft], source, session.graph, session, told.at)
            gold = _gold(world, now)
            given = [_written(r.when, r.all_day, r.text) for r in coming(session.graph, now, DAYS)]
            wrong = score(gold, given, tally, f"{bank}.product")
            if show and wrong:
                progress(f"{now:%Y-%m-%d}: {wrong}\n  gold {gold}\n  given {given}")
            _ask(world, now, session, tally, bank, show=show)
            known = [row for row, told in enumerate(world.told) if told.at <= now]
            _yardsticks(world, now, known, texts, vectors, models, tally, bank, llm=llm)


def _gold(world: World, now: datetime) -> list[Due]:
    last = f"{now + DAYS * DAY:%Y-%m-%d}"
    found = []
    for plan in world.plans:
        at = plan.due(now) if plan.told.at < now else None
        if at is not None and at < last:
            found.append(Due(at, plan.name))
    return found


def _written(when: datetime, all_day: bool, text: str) -> Due:
    return Due(f"{when:%Y-%m-%d}" if all_day else f"{when:%Y-%m-%d %H:%M}", text)


def score(gold: Sequence[Due], given: Sequence[Due], tally: Tally, name: str) -> list[str]:
    """Count reminders; returns what was missed and what was wrong."""
    left = list(given)
    problems = []
    for due in gold:
        hit = next((g for g in left if g.at == due.at and states(g.name, due.name)), None)
        tally.add(f"{name}.reminder_em", hit is not None)
        if hit is not None:
            left.remove(hit)
        else:
            problems.append(f"MISSED {due}")
    for one in given:
        wrong = any(one is other for other in left)
        tally.add(f"{name}.reminder_precision", not wrong)
        problems += [f"WRONG {one}"] if wrong else []
    return problems


def _ask(world: World, now: datetime, session: Session, tally: Tally, bank: str, *, show: bool
         ) -> None:  # fmt: skip
    for asked in world.asked:
        right = asked.right(now)
        try:
            said = travel(session.graph, asked.to, now).address
        except NotRemembered:
            said = ""
        if right is not None:
            tally.add(f"{bank}.product.travel_em", _same(said, right))
            if show and not _same(said, right):
                progress(f"{now:%Y-%m-%d}: {asked.to!r} -> {said!r}, right {right!r}")
        elif asked.to in BANKS[bank].unknown:
            tally.add(f"{bank}.product.invented", bool(said))
            if show and said:
                progress(f"{now:%Y-%m-%d}: invented {asked.to!r} -> {said!r}")


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


# ---- yardsticks -----------------------------------------------------------------------------


def _yardsticks(
    world: World,
    now: datetime,
    known: Sequence[int],
    texts: Sequence[str],
    vectors: Vectors,
    models: Session,
    tally: Tally,
    bank: str,
    *,
    llm: bool,
) -> None:
    memories = [_memory(row, world.told[row], texts[row]) for row in known]

    def nearest(question: str, k: int) -> list[Memory]:
        (vector,) = models.embedder.encode([question])
        order = sorted(range(len(known)), key=lambda at: -float(vectors[known[at]] @ vector))
        return [memories[at] for at in order[:k]]

    gold = _gold(world, now)
    for way, chosen in (("top-k", nearest(COMING, K)), ("all", memories)):
        found = reminders(chosen, now, DAYS, Identities(chosen, now))
        given = [_written(r.when, r.all_day, r.text) for r in found]
        score(gold, given, tally, f"{bank}.{way}")
    if llm:
        score(gold, _told_by_model(nearest(COMING, K), now, models), tally, f"{bank}.llm")
    for asked in world.asked:
        right = asked.right(now)
        unknown = asked.to in BANKS[bank].unknown
        if right is None and not unknown:
            continue
        near = nearest(f"What is the address of {asked.to}?", K)
        said = next((p.where for m in near for p in places_in(m)), None) or next(
            (where for m in near if (where := event_place(m))), ""
        )
        answers = {"top-k": said}
        if llm:
            answers["llm"] = _address_by_model(near, asked.to, models)
        for way, answer in answers.items():
            if unknown:
                tally.add(f"{bank}.{way}.invented", bool(answer))
            else:
                right_one = (
                    states(answer, right or "") if way == "llm" else _same(answer, right or "")
                )
                tally.add(f"{bank}.{way}.travel_em", right_one)


def _memory(row: int, told: Told, text: str) -> Memory:
    return Memory(f"m{row + 1}", text, "Event", told.subclass, told.at, told.triples,
                  told.valid_from, told.valid_until)  # fmt: skip


def _notes(memories: Sequence[Memory]) -> str:
    return "\n".join(f"{at}. {m.text}" for at, m in enumerate(memories, 1))


def _told_by_model(memories: Sequence[Memory], now: datetime, models: Session) -> list[Due]:
    asked = (
        f"Today is {now:%A} {now:%Y-%m-%d %H:%M}. My notes:\n{_notes(memories)}\n\n"
        f"List everything that comes in the next {DAYS} days, one a line, as "
        "'YYYY-MM-DD HH:MM | what', or 'YYYY-MM-DD | what' where no time is known. Nothing else."
    )
    said = models.llm.chat([ChatTurn("user", asked)], max_tokens=300)
    found = re.findall(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d))?\s*\|\s*(.+)", said)
    return [Due(f"{day} {clock}".strip(), what) for day, clock, what in found]


def _address_by_model(memories: Sequence[Memory], to: str, models: Session) -> str:
    asked = (
        f"My notes:\n{_notes(memories)}\n\nWhat is the address of {to}? Answer with the address "
        "alone, or with 'unknown' where the notes do not say it."
    )
    said = models.llm.chat([ChatTurn("user", asked)], max_tokens=40).strip()
    return "" if "unknown" in said.casefold() else said


def measure(
    name: str, banks: Sequence[str], lives: int, *, quick: bool, llm: bool, show: bool
) -> None:
    """Run the lives of each bank and write the figures under a name."""
    tally = Tally()
    with open_session(load_config()) as models:
        for bank in banks:
            for seed in range(lives):
                world = write_world(bank, seed)
                if llm:
                    world = replace(world, ends=world.ends[1::2])  # an answer takes seconds
                progress(f"{bank} {seed}: {len(world.told)} told, {len(world.asked)} destinations")
                run_world(world, models, tally, bank, llm=llm, show=show and bank == "train")
    config = {"quick": quick, "lives": lives, "k": K, "days": DAYS, "banks": list(banks)}
    report(name, config, list(range(lives)), tally)


def main() -> None:
    options = parser("services", __doc__ or "")
    options.add_argument("--bank", choices=["train", "test", "both"], default="both")
    options.add_argument("--lives", type=int, default=6, help="lives of each bank")
    options.add_argument("--show", action="store_true", help="failures of the training bank")
    given = options.parse_args()
    banks = ["train", "test"] if given.bank == "both" else [given.bank]
    lives = 1 if given.quick else given.lives
    measure("services", banks, lives, quick=given.quick, llm=False, show=given.show)


if __name__ == "__main__":
    main()
