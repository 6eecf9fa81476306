"""``memlane demo``: the EMG-RAG paper's example in a temporary home.

Every step goes through the code of the everyday commands, with the real models, and is checked:
a wrong answer makes the demo fail.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cli.context import Run
from cli.output import render

if TYPE_CHECKING:
    from agent.results import Reply
    from agent.session.session import Session
    from store.journal import Entry

ASSETS = Path(__file__).parents[2] / "assets"
START = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
QUESTION = "What time is my boss's flight to Amsterdam?"


@dataclass(frozen=True, slots=True)
class DemoStep:
    """One step: what was done, whether it came out right, and what was seen."""

    name: str
    ok: bool
    detail: str


def demo(context: typer.Context) -> None:
    """Watch memlane at work, with example memories.

    Runs end to end with the real models in a temporary home. Takes a minute or two.
    """
    run: Run = context.obj
    outcomes: list[DemoStep] = []
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="memlane-demo-") as home:
        run.config = replace(run.config, home=Path(home) / "home", fixed_now=START, space="main")
        with run.session() as session:
            for outcome in play(session):
                outcomes.append(outcome)
                if not run.json:
                    mark = "[green]ok[/green]  " if outcome.ok else "[red]FAIL[/red]"
                    run.out.print(f"{mark} [bold]{outcome.name}[/bold]", markup=True)
                    for line in outcome.detail.splitlines():
                        run.out.print(f"       {line}")
    seconds = time.perf_counter() - started
    ok = all(outcome.ok for outcome in outcomes)
    run.emit(
        {
            "steps": [{"name": o.name, "ok": o.ok, "detail": o.detail} for o in outcomes],
            "ok": ok,
            "seconds": round(seconds, 1),
        },
        lambda out: out.print(
            f"{sum(o.ok for o in outcomes)} of {len(outcomes)} steps right in {seconds:.0f} s. "
            "The temporary home is deleted; nothing left this machine."
        ),
    )
    if not ok:
        wrong = ", ".join(o.name for o in outcomes if not o.ok)
        typer.echo(f"memlane: these steps of the demo failed: {wrong}", err=True)
        raise typer.Exit(1)


def play(session: Session) -> Iterator[DemoStep]:
    """The steps in order, each yielded when it is done."""
    yield _told(
        "tell: a flight, in conversation",
        session.respond("I booked a flight to Amsterdam for my boss. I booked the EK349 flight."),
        ("Amsterdam", "boss", "EK349"),
    )
    yield _ingested(session, "ingest a note: the hotel", "hotel.md", ("Crowne Plaza", "05-18"))
    yield _ingested(
        session, "ingest a screenshot: the boarding pass", "boarding-pass.png", ("EK349", "01:40")
    )
    yield _asked(session, "ask across several memories", QUESTION, ("01:40",), ("01:30",), least=2)

    seat = session.respond("The seat for the EK349 flight is 23A.")
    yield _told("insert: a seat number", seat, ("23A",), kind="insert")
    voucher = session.respond("The Crowne Plaza dinner voucher is valid until May 14, 2024.")
    yield _told("expire: a voucher with a date", voucher, ("voucher",), kind="expire")
    moved = session.respond("The EK349 flight departs at 01:30 on 2024-05-12 now.")
    yield _told("replace: the departure moves to 01:30", moved, ("01:30",), kind="replace")
    yield _asked(session, "ask again: the answer follows", QUESTION, ("01:30",), ("01:40",))

    yield _asked(
        session, "ask for the voucher before its date",
        "Until when is my dinner voucher valid?", ("14",), (),
    )  # fmt: skip
    later = _at(session, START + timedelta(days=7))
    yield _asked(
        later, "ask for it a week later: it has expired",
        "Until when is my dinner voucher valid?", ("No longer", "14"), (),
    )  # fmt: skip

    yield _filled(session)
    yield _undone(session, moved.entries)
    problems = session.graph.verify(session.embedder.identity)
    yield DemoStep(
        "verify: journal, rows, full text and vectors agree",
        not problems,
        "\n".join(problems) or "they do",
    )


def _at(session: Session, now: datetime) -> Session:
    """The same home and models at another time."""
    from agent.session.session import Session

    return Session(
        replace(session.config, fixed_now=now),
        session.graph,
        llm=session.llm,
        embedder=session.embedder,
        reader=session.reader,
    )


def _told(name: str, reply: Reply, words: tuple[str, ...], kind: str | None = None) -> DemoStep:
    stored = " ".join(entry.after or "" for entry in reply.entries)
    right = reply.route.value == "update" and all(word in stored for word in words)
    if kind is not None:
        right = right and kind in {entry.kind.value for entry in reply.entries}
    return DemoStep(name, right, _edits(reply.entries) or reply.text)


def _ingested(session: Session, name: str, file: str, words: tuple[str, ...]) -> DemoStep:
    (report,) = session.ingest([ASSETS / file])
    stored = " ".join(entry.after or "" for entry in report.entries)
    right = report.status == "new" and all(word in stored for word in words)
    return DemoStep(name, right, _edits(report.entries) or f"{report.status}: {report.reason}")


def _asked(
    session: Session,
    name: str,
    question: str,
    wanted: tuple[str, ...],
    unwanted: tuple[str, ...],
    least: int = 1,
) -> DemoStep:
    reply = session.respond(question)
    right = (
        reply.route.value == "retrieve"
        and not reply.abstained
        and all(word in reply.text for word in wanted)
        and not any(word in reply.text for word in unwanted)
        and len(reply.memories) >= least
    )
    return DemoStep(name, right, _answer(question, reply))


def _filled(session: Session) -> DemoStep:
    from agent.applications.forms.formats.open_form import fields_from_labels

    wanted = {
        "Hotel": "Crowne Plaza",
        "Check-in date": "2024-05-12",
        "Check-out date": "2024-05-18",
        "Flight number": "EK349",
        "Passport number": None,
    }
    fields = session.fill(fields_from_labels(list(wanted)))
    lines = [
        f"{field.label}: {field.value}"
        + (f"  [{', '.join(field.memories)}]" if field.value else "")
        for field in fields
    ]
    right = all(
        (value is None) == (field.value is None) and (value or "") in str(field.value or "")
        for field, value in zip(fields, wanted.values(), strict=True)
    )
    return DemoStep("fill a hotel form; what is unknown stays empty", right, "\n".join(lines))


def _undone(session: Session, entries: tuple[Entry, ...]) -> DemoStep:
    entry = session.graph.undo(entries[-1].id, at=session.config.now())
    reply = session.respond(QUESTION)
    right = "01:40" in reply.text and "01:30" not in reply.text
    return DemoStep(
        "undo the change: the old departure is back",
        right,
        f"{render.edit_line(entry)}\n{_answer(QUESTION, reply)}",
    )


def _edits(entries: tuple[Entry, ...]) -> str:
    return "\n".join(render.edit_line(entry) for entry in entries)


def _answer(question: str, reply: Reply) -> str:
    evidence = [f"  {choice.memory.id} {choice.memory.text}" for choice in reply.memories]
    return "\n".join([f"> {question}", reply.text, *evidence])
