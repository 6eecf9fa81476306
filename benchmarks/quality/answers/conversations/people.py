"""Half a year of one person: is what holds told, and nothing where nothing was told?

Each person of ``samples/people_held`` tells the product some eighty messages, each at its time, and
asks thirty questions at theirs. The alternative pastes the dated messages (with four examples, and
what BM25 finds nearest where not all fit) into the same model.

- *current*, *stale*, *lost*: as in ``benchmarks.changes``, by kind of question;
- *silent*: of the questions about what was never told, those that get no answer;
- *evidence*: a note that was given holds a fact that the question needs;
- *edges*: of the changes that the product takes to have happened (the older is not shown), those
  that the writer marked (*right*), and of those that the writer marked, those found (*found*).
  ``--tell`` measures these alone.

``--as-said`` keeps the messages in their own words, without extraction by the language model, which
takes most of the time. ``--no-second`` leaves out the language model as a second reader.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent.answering.answer import admits_nothing
from agent.config import load_config
from agent.memory.passages import passage_of, sources_of
from agent.memory.remember import remember_as_said
from agent.memory.time.changed import CHANGED
from agent.session.session import Session, open_session
from benchmarks.quality.answers.conversations.people_data import (
    HELD,
    Asked,
    Person,
    Sentence,
    read_people,
    sentences,
)
from benchmarks.quality.answers.pasting import answer_by_pasting
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers, TokenCount
from benchmarks.shared.simulated_lives.lives import at, fresh
from store.tables.side_tables.change_edges import ChangeKind
from store.types import Memory, SourceKind, Status

CHANGES = ("supersedes", "ends", "corrects", "refines")


class WithoutSecond(KeptAnswers):
    """A model whose hidden states nobody can read."""

    states = None  # type: ignore[assignment]  # it is no HiddenStateModel then


def main() -> None:
    options = parser("people", __doc__ or "")
    options.add_argument("--folder", type=Path, default=HELD, help="of people")
    options.add_argument("--only", nargs="*", default=[], help="these people")
    options.add_argument("--tell", action="store_true", help="ask nothing")
    options.add_argument("--as-said", action="store_true", help="no extraction by the model")
    options.add_argument("--no-second", action="store_true", help="without the second reader")
    options.add_argument("--arms", nargs="*", default=["ours", "pasted"])
    given = options.parse_args()
    people = [one for one in read_people(given.folder) if not given.only or one.id in given.only]
    if given.quick:
        people = people[:1]
    counts: Counter[str] = Counter()
    with open_session(load_config()) as models:
        kept = (WithoutSecond if given.no_second else KeptAnswers)(models.llm)
        models.llm = kept
        count = TokenCount(models.config)
        for person in people:
            with tempfile.TemporaryDirectory() as folder, fresh(models, Path(folder)) as home:
                asked = person.asked[:3] if given.quick else person.asked
                for one in _live(person, () if given.tell else asked, home, given.as_said):
                    _count(one, person, home, count, given.arms, counts)
                _count_edges(person, home, counts)
            progress(f"{person.id}: {dict(sorted(counts.items()))}")
    config = {
        "quick": given.quick or given.tell or bool(given.only),
        "people": [person.id for person in people],
        "second": not given.no_second,
        "as_said": given.as_said,
        "model": kept.identity,
    }
    name = "people_without_second" if given.no_second else "people"
    write_results(name, config, [0], figures(counts))


def _live(person: Person, asked: Sequence[Asked], home: Session, as_said: bool) -> Iterator[Asked]:
    """Tell the messages in order of time; gives each question when it is due."""
    waiting = sorted(asked, key=lambda one: one.case.asked)
    for moment, text in person.messages.values():
        while waiting and waiting[0].case.asked < moment:
            yield waiting.pop(0)
        there = at(home, moment)
        if as_said:
            source = home.graph.sources.add(SourceKind.CHAT, text, moment)
            remember_as_said(source, home.graph, there, moment)
        else:
            there.respond(text)
    yield from waiting


def _count(
    one: Asked,
    person: Person,
    home: Session,
    count: TokenCount,
    arms: Sequence[str],
    counts: Counter[str],
) -> None:
    case = one.case
    kind = one.kind if person.language == "en" else f"{person.language}.{one.kind}"
    said = {}
    if "ours" in arms:
        reply = at(home, case.asked).ask(case.question)
        said["ours"] = "I don't know." if reply.abstained else reply.text
        if one.needs:
            chosen = [c.memory for c in reply.selection.chosen] if reply.selection else []
            counts[f"ours.{kind}.evidence"] += _holds(person, one.needs, chosen, home)
    if "pasted" in arms:
        said["pasted"] = answer_by_pasting(
            home.llm, case.messages, case.question, case.asked, count, examples=True
        )
    for arm, text in said.items():
        silent = admits_nothing(text)
        verdict = ("silent" if silent else "told") if one.kind == "never" else case.judge(text)
        counts[f"{arm}.{kind}.{verdict}"] += 1
        counts[f"{arm}.{kind}.n"] += 1
        progress(
            f"  {arm} {kind} {verdict}: {case.question} -> {text[:110]!r} {case.new}{case.every}"
        )


def _holds(person: Person, needs: Sequence[str], chosen: Sequence[Memory], home: Session) -> bool:
    """Whether a chosen memory was read from the message of a fact that is needed."""
    told = {person.messages[person.facts[need].message][1] for need in needs}
    sources = sources_of(chosen, home.graph)
    return any(source.text in told for source in sources.values())


def _count_edges(person: Person, home: Session, counts: Counter[str]) -> None:
    """Count the changes that are taken to have happened, and those that did."""
    told = sentences(person)
    memories = home.graph.memories.list(*Status)
    sources = sources_of(memories, home.graph)
    facts: dict[str, set[str]] = {}
    for memory in memories:
        source = sources.get(memory.source or "")
        words = passage_of(memory, sources).words if source else ""
        facts[memory.id] = {
            name
            for one in told
            if source and _same(one, source.text, words, person)
            for name in one.facts
        }
    found: set[tuple[str, str]] = set()
    for edge in home.graph.change_edges.of([memory.id for memory in memories]):
        if edge.change is ChangeKind.ADDS or edge.probability < CHANGED:
            continue
        pairs = {
            (old, new)
            for old in facts[edge.older]
            for new in facts[edge.newer]
            if person.relation(old, new) in CHANGES
        }
        counts["edges"] += 1
        counts["edges.right"] += bool(pairs)
        found |= pairs
    marked = {
        (old, new.id) for new in person.facts.values() for old, kind in new.over if kind in CHANGES
    }
    counts["edges.marked"] += len(marked)
    counts["edges.found"] += len(found & marked)


def _same(one: Sentence, source: str, words: str, person: Person) -> bool:
    text = person.messages[one.message][1]
    return source == text and (one.text in words or words in one.text)


def figures(counts: Counter[str]) -> dict[str, float]:
    """Shares of the counts."""
    shares: dict[str, float] = {
        "edges": counts["edges"],
        "edges.marked": counts["edges.marked"],
        "edges.right": counts["edges.right"] / max(1, counts["edges"]),
        "edges.found": counts["edges.found"] / max(1, counts["edges.marked"]),
    }
    for name in list(counts):
        arm, _, kind = name.removesuffix(".n").partition(".")
        if not name.endswith(".n"):
            continue
        n = counts[name]
        shares[name] = n
        wanted = ("silent",) if kind.endswith("never") else ("current", "stale", "lost", "evidence")
        for verdict in wanted:
            if verdict != "evidence" or arm == "ours":
                shares[f"{arm}.{kind}.{verdict}"] = counts[f"{arm}.{kind}.{verdict}"] / n
    return shares


if __name__ == "__main__":
    main()
