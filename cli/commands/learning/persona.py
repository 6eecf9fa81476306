"""``memlane persona``: inferred lines, corrections and joined homes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.context import Run
from cli.output import json_output
from store.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from agent.applications.personas.join import Partner
    from agent.applications.personas.predict_option import Prediction
    from agent.applications.personas.refresh import Refreshed
    from store.tables.side_tables.personas import PersonaLine

app = typer.Typer(help="Show and correct what memlane infers about you.", no_args_is_help=True)
LineId = Annotated[str, typer.Argument(help="The line, such as p3.")]


@app.command()
def show(
    context: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Include the lines you dropped.")
    ] = False,
) -> None:
    """Show what memlane infers about you, line by line.

    You did not say any of this: each line is inferred from the memories listed beside it. Correct
    or drop what is wrong. Refreshes keep your corrections.
    """
    run: Run = context.obj
    now = run.config.now()
    with run.graph() as graph:
        lines = [
            line
            for line in graph.personas.lines(now, everything=everything)
            if line.standing.value != "gone"
        ]
    run.emit({"lines": [shape(line) for line in lines]}, lambda out: _show(out, lines))


@app.command()
def refresh(
    context: typer.Context,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Make at most this many lines; the others wait.")
    ] = None,
) -> None:
    """Update the lines that are due.

    Only lines whose memories changed are made again. The resident process does this automatically.
    """
    run: Run = context.obj
    with run.session() as session:
        from agent.applications.personas.refresh import refresh as make

        with run.status("refining ..."):
            done = make(session, limit=limit)
        lines = session.graph.personas.lines(run.config.now())
    made = [line for line in lines if line.id in done.made]
    document = {
        "made": [shape(line) for line in made],
        "unsupported": done.unsupported,
        "removed": done.removed,
        "waiting": done.waiting,
        "reason": done.reason,
    }
    run.emit(document, lambda out: _refreshed(out, done, made))


@app.command()
def correct(
    context: typer.Context, line: LineId, text: Annotated[str, typer.Argument(help="What is true.")]
) -> None:
    """Replace a line with your own words. Refreshes keep it."""
    run: Run = context.obj
    with run.session() as session:
        from agent.applications.personas.manual_edit import correct as say

        said = say(session, line, text)
    run.emit(shape(said), lambda out: _by_hand(out, said))


@app.command()
def drop(context: typer.Context, line: LineId) -> None:
    """Drop a line. It is not used or made again."""
    run: Run = context.obj
    now = run.config.now()
    with run.graph() as graph:
        graph.personas.drop(line, at=now)
        dropped = graph.personas.get(line, now)
    run.emit(shape(dropped), lambda out: _by_hand(out, dropped))


@app.command()
def undo(
    context: typer.Context,
    line: Annotated[
        str | None, typer.Argument(help="The line, such as p3. Default: the last change.")
    ] = None,
) -> None:
    """Undo a correction or a drop."""
    run: Run = context.obj
    with run.graph() as graph:
        back = graph.personas.undo(line, run.config.now())
    run.emit(shape(back), lambda out: _show(out, [back]))


@app.command()
def predict(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question.")],
    option: Annotated[
        list[str] | None, typer.Option("--option", help="One of the possible answers; repeatable.")
    ] = None,
) -> None:
    """Predict which of several answers you would give.

    Uses your own views, those of joined profiles, and the language model. The result is a guess,
    not a fact.
    """
    run: Run = context.obj
    with run.session() as session:
        from agent.applications.personas.predict_option import predict as guess

        prediction = guess(session, question, option or [])
    run.emit(_prediction(prediction), lambda out: _predicted(out, prediction))


@app.command()
def join(
    context: typer.Context,
    with_: Annotated[
        Path | None,
        typer.Option("--with", metavar="HOME", help="Agree to join with this home."),
    ] = None,
    leave: Annotated[
        Path | None,
        typer.Option("--leave", metavar="HOME", help="Withdraw that agreement, effective at once."),
    ] = None,
) -> None:
    """Join another person's home on this machine, or list joined homes.

    Nothing is read before both homes agree. Then each home may read the other's views (memories of
    the type Preference, and lines inferred from them) while it answers a question. Nothing is
    copied, shown or stored.
    """
    run: Run = context.obj
    run.only_main("persona join")
    from agent.applications.personas import join as joining

    if with_ is not None and leave is not None:
        raise InvalidInput("Give --with or --leave, not both.")
    now = run.config.now()
    with run.graph() as graph:
        if with_ is not None:
            partners: tuple[Partner, ...] = (joining.join(graph, with_, now),)
        elif leave is not None:
            partners = (joining.leave(graph, leave, now),)
        else:
            partners = joining.partners(graph)
        mine = graph.consents.home
    document = {"home": str(mine), "joined": [_partner(one) for one in partners]}
    run.emit(document, lambda out: _joined(out, partners, mine))


# ---- shapes -------------------------------------------------------------------------------


def shape(line: PersonaLine) -> dict[str, Any]:
    """The JSON object of a line; no words of one that rests on something forgotten."""
    return {
        "id": line.id,
        "layer": line.layer.value,
        "category": line.category,
        "text": None if line.hidden else line.text,
        "inferred": line.by != "you",
        "by": line.by,
        "evidence": list(line.evidence),
        "standing": line.standing.value,
        "made": json_output.iso(line.made),
    }


def _prediction(prediction: Prediction) -> dict[str, Any]:
    return {
        "question": prediction.question,
        "choice": prediction.choice,
        "options": [{"text": text, "probability": round(p, 4)} for text, p in prediction.options],
        "evidence": list(prediction.evidence),
        "joined": prediction.joined,
        "inferred": True,
    }


def _partner(partner: Partner) -> dict[str, Any]:
    return {
        "home": str(partner.home),
        "side": partner.side.value,
        "since": json_output.iso(partner.since),
    }


# ---- for people ---------------------------------------------------------------------------


_HEADINGS = {
    "distilled": "What several memories say together",
    "induced": "What that may say about you",
    "cache": "In short",
}


def _show(out: Console, lines: list[PersonaLine]) -> None:
    if not lines:
        out.print("Nothing is inferred yet. Tell me more, then: memlane persona refresh")
        return
    layer = None
    for line in lines:
        if line.layer is not layer:
            layer = line.layer
            out.print(f"{_HEADINGS[layer.value]} (inferred)")
        text = "(based on a forgotten memory; made again at the next refresh)"
        text = text if line.hidden else line.text
        state = "" if line.standing.value == "fresh" else f" [{line.standing.value}]"
        yours = " [yours]" if line.by == "you" else ""
        evidence = " ".join(line.evidence)
        out.print(f"  {line.id} {text}{state}{yours}  ({evidence})")


def _refreshed(out: Console, done: Refreshed, made: list[PersonaLine]) -> None:
    _show(out, made) if made else out.print("No lines were made.")
    if done.removed:
        out.print(f"{done.removed} lines were removed because their evidence is gone.")
    if done.waiting:
        why = f": {done.reason}" if done.reason else "; continue with: memlane persona refresh"
        out.print(f"{done.waiting} still wait{why}")


def _by_hand(out: Console, line: PersonaLine) -> None:
    what = "dropped" if line.standing.value == "dropped" else line.text
    out.print(f"{line.id}: {what}  (undo with: memlane persona undo {line.id})")


def _predicted(out: Console, prediction: Prediction) -> None:
    out.print(f"{prediction.choice}  (inferred, not something you said)")
    for text, probability in prediction.options:
        out.print(f"  {probability:.2f} {text}")
    rests = " ".join(prediction.evidence) or "no lines of yours"
    others = f", and the views of {prediction.joined} joined profiles" if prediction.joined else ""
    out.print(f"  by {rests}{others}")


def _joined(out: Console, partners: tuple[Partner, ...], mine: Path) -> None:
    if not partners:
        out.print("No joined homes. To join one: memlane persona join --with HOME")
    for partner in partners:
        out.print(f"{partner.side.value:<8} {partner.home}")
        if partner.side.value == "waiting":
            out.print(
                f"  Nothing is read before they agree too: "
                f"memlane --home '{partner.home}' persona join --with '{mine}'"
            )
