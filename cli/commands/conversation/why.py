"""``memlane why``: why an answer is based on what, in words, in numbers or as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.context import Run
from cli.input.standard_streams import emit_beside, writable, write_whole
from cli.output import json_output

if TYPE_CHECKING:
    from rich.console import Console

    from agent.answering.trace import Trace, TracedStep
    from cli.output.svg import Canvas, Shape
    from policies.selection import Step

ROW, INDENT = 24.0, 26.0
LEFT, TOP = 30.0, 102.0
LONGEST = 76
"""Letters of a memory in the picture; the pointer shows the whole."""
LEFT_OUT = "#b0b0b0"


def why(
    context: typer.Context,
    turn: Annotated[
        str | None,
        typer.Argument(metavar="TURN", help="A turn such as t12. Default: the last turn."),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture", "-o", metavar="FILE", help="Also draw it: an .svg file; - is stdout."
        ),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Show each decision with its numbers.")
    ] = False,
    states: Annotated[
        bool, typer.Option("--states", help="Also show what each number was computed from.")
    ] = False,
) -> None:
    """Say why an answer is based on the memories it is based on.

    With --details each line is one decision: the memory, its score, the probability of choosing it
    if there is one, the outcome and the reason. Memories that were reached from another memory are
    listed under it.

    \b
    Examples:
      memlane why
      memlane why t12 --details
      memlane why t12 --picture why.svg
    """
    run: Run = context.obj
    from agent.answering.trace import read_trace

    if picture is not None:
        from cli.commands.memories.graph import check_name

        check_name(picture)
    with run.graph() as graph:
        trace = read_trace(graph, turn)
    document = json_output.trace(trace)
    if picture is not None and trace.steps:
        from cli.output.svg import svg

        with writable(run, picture, "why.svg") as file:
            write_whole(svg(canvas(trace)), file, "--picture")
        document["picture"] = str(picture)

    def show(out: Console) -> None:
        if details or states:
            show_trace(out, trace, states=states)
        else:
            show_words(out, trace)
        if "picture" in document:
            out.print(f"Drawn: {picture}")

    if picture is None:
        run.emit(document, show)
    else:
        emit_beside(run, picture, document, show)


def show_words(out: Console, trace: Trace) -> None:
    """The reasons in a sentence, and the memories that the answer is based on."""
    from agent.answering.trace import in_words

    if trace.turn.route != "update":
        out.print(f"{trace.turn.id}: {trace.turn.text}")
    out.print(in_words(trace))
    for traced in trace.steps:
        if traced.used and traced.memory is not None:
            where = f" ({traced.where})" if traced.where else ""
            line = f"  {traced.step.memory} {traced.memory.text}{where}"
            out.print(line, style="dim")


def show_trace(out: Console, trace: Trace, *, states: bool = False) -> None:
    """The decisions behind an answer, each under the memory that it was reached from."""
    out.print(title_of(trace))
    for depth, traced in nested(trace):
        out.print("  " * (depth + 1) + step_line(traced))
        if states and traced.step.state:
            numbers = ", ".join(state_lines(traced.step))
            out.print("  " * (depth + 1) + f"     {numbers}", style="dim")
    if trace.cut:
        out.print(f"  and {trace.cut:,} more that were not stored")


def title_of(trace: Trace) -> str:
    """One line over a trace, or instead of one."""
    turn = trace.turn
    if not trace.steps:
        if trace.redacted:
            return f"{turn.id}: its trace was forgotten together with a memory it used."
        if trace.policy is None:
            return f"{turn.id} ({turn.route}): no memories were chosen for it."
        return f"{turn.id}: {trace.policy} found nothing to choose from."
    chosen = sum(traced.step.chosen for traced in trace.steps)
    looked = len(trace.steps) + trace.cut
    likely = "" if trace.likely is None else f"; memory likely holds the answer: {trace.likely:.2f}"
    return f"{turn.id}: {trace.policy} chose {chosen} of {looked} candidates{likely}"


def step_line(traced: TracedStep) -> str:
    """One decision: what it was about, how sure it was, what became of it, and why."""
    step = traced.step
    text = "(forgotten)" if traced.memory is None else traced.memory.text
    sure = "" if step.probability is None else f" p={step.probability:.2f}"
    fate = "used" if traced.used else "read" if step.chosen else "left out"
    fate = f"started here, {fate}" if step.activated else fate
    why = f" [{step.reason}]" if step.reason else ""
    return f"{step.memory} {step.score:.2f}{sure} {fate}: {text}{why}"


def state_lines(step: Step) -> list[str]:
    """What a decision rested on, number by number."""
    return [f"{name} {value:.3f}" for name, value in step.state]


def nested(trace: Trace) -> Iterator[tuple[int, TracedStep]]:
    """The steps with their depth, each under the one that it was reached from."""
    known = {traced.step.memory for traced in trace.steps}
    below: dict[str | None, list[TracedStep]] = {}
    for traced in trace.steps:
        via = traced.step.via if traced.step.via in known else None
        below.setdefault(via, []).append(traced)
    told: set[str] = set()
    waiting = [(0, traced) for traced in reversed(below.get(None, []))]
    while waiting:
        depth, traced = waiting.pop()
        if traced.step.memory in told:
            continue  # an imported trace may go in circles
        told.add(traced.step.memory)
        yield depth, traced
        waiting += [(depth + 1, b) for b in reversed(below.get(traced.step.memory, []))]


def canvas(trace: Trace) -> Canvas:
    """The steps as a tree that reads from top to bottom; see ``nested``."""
    from cli.output.graph_layout import text_width
    from cli.output.svg import COLOURS, INK, PALE, PAPER, Canvas, Dot, Polyline, Text

    shapes_: list[Shape] = []
    words: list[Shape] = []
    at: dict[str, tuple[float, float]] = {}
    width = 560.0
    for row, (depth, traced) in enumerate(nested(trace)):
        step, memory = traced.step, traced.memory
        x, y = LEFT + INDENT * depth, TOP + ROW * row
        at[step.memory] = (x, y)
        if depth and step.via in at:
            from_x, from_y = at[step.via]
            path = ((from_x, from_y), (from_x, y), (x, y))
            shapes_.append(Polyline(path, INK if step.chosen else LEFT_OUT, 1.4, 0.7))
        colour = COLOURS.get(memory.type, INK) if memory and step.chosen else LEFT_OUT
        told = "\n".join([step_line(traced), *state_lines(step)])
        if step.activated:
            words += [Dot((x, y), 9, INK), Dot((x, y), 7.4, PAPER)]
        words.append(Dot((x, y), 6 if step.chosen else 4, colour, told))
        text = "forgotten" if memory is None else memory.text
        text = text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
        number = step.score if step.probability is None else step.probability
        label = f"{step.memory}  {number:.2f}  {text}"
        ink = INK if step.chosen else PALE
        words.append(Text((x + 15, y + 4), label, colour=ink, bold=traced.used, title=told))
        width = max(width, x + 40 + text_width(label) * (1.1 if traced.used else 1.0))
    question = trace.turn.text if len(trace.turn.text) <= 90 else trace.turn.text[:89] + "…"
    head: list[Shape] = [
        Text((20, 26), question, size=15, bold=True),
        Text((20, 48), title_of(trace), colour=PALE),
        Dot((LEFT, 68), 6, INK), Text((LEFT + 13, 72), "chosen"),
        Dot((LEFT + 90, 68), 4, LEFT_OUT), Text((LEFT + 103, 72), "left out", colour=PALE),
        Dot((LEFT + 190, 68), 9, INK), Dot((LEFT + 190, 68), 7.4, PAPER),
        Text((LEFT + 205, 72), "started here"),
        Text((LEFT + 310, 72), "bold: used in the answer", bold=True),
    ]  # fmt: skip
    width = max(width, 40 + text_width(question, 15) * 1.1)
    height = TOP + ROW * len(at) + 12
    return Canvas(width, height, (*shapes_, *words, *head))
