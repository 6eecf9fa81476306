"""Commands that talk: say, ask, remember, chat."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cli import render, shapes
from cli.run import Run

if TYPE_CHECKING:
    from agent.session import Session


def say(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The message.")],
) -> None:
    """Send one chat message.

    It is remembered if it tells something new, answered from memory if it asks for that, and
    just answered otherwise.
    """
    run: Run = context.obj
    with run.session() as session:
        reply = session.respond(text)
    run.emit(shapes.reply(reply), lambda out: render.reply(out, reply))


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    policy: Annotated[
        str | None, typer.Option(help="How memories are chosen: top-k or all.")
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="How many memories top-k takes.")
    ] = None,
    no_llm: Annotated[
        bool, typer.Option("--no-llm", help="Show the chosen memories alone, without an answer.")
    ] = False,
) -> None:
    """Answer a question from your memories.

    The answer names the memories it rests on, and says so when nothing is known.
    """
    run: Run = context.obj
    with run.session() as session:
        reply = session.ask(question, policy=policy, k=k, use_llm=not no_llm)
    run.emit(shapes.reply(reply), lambda out: render.reply(out, reply))


def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="One fact, as it shall be kept.")],
    at: Annotated[
        str | None, typer.Option("--at", metavar="WHEN", help="When it was said (ISO 8601).")
    ] = None,
    place: Annotated[str | None, typer.Option(help="Where it was said.")] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="WHEN", help="When it stops being true (ISO 8601).")
    ] = None,
) -> None:
    """Store a text as it stands.

    Relative dates become absolute, nothing else is rewritten.
    """
    run: Run = context.obj
    from agent.dates import parse_when

    now = run.config.now()
    said = parse_when(at, now) if at else None
    until = parse_when(expires, said or now, end=True) if expires else None
    with run.session() as session:
        done = session.remember(text, at=said, place=place, expires=until)
    run.emit(
        {"edits": shapes.edits(done.entries), "unchanged": list(done.unchanged)},
        lambda out: render.remembered(out, done),
    )


CHAT_HELP = """/why   the memories behind the last answer
/undo  take back the last edit (or /undo e12)
/forget m12   take a memory out of answers; /undo works for 30 days, then it is gone for good
/help  this list
/quit  leave (or Ctrl-D)"""


def chat(context: typer.Context) -> None:
    """Talk line by line, or through a pipe."""
    run: Run = context.obj
    interactive = sys.stdin.isatty()
    with run.session() as session:
        if interactive and not run.json:
            run.out.print("Tell me something, or ask. /help lists the commands, Ctrl-D leaves.")
        last = None
        while True:
            try:
                line = _read_line(interactive)
            except KeyboardInterrupt:
                run.err.print()
                continue
            if line is None or line.strip() in ("/quit", "/exit"):
                return
            if not line.strip():
                continue
            try:
                last = _one_line(run, session, line.strip(), last)
            except KeyboardInterrupt:
                run.err.print("Stopped. Nothing of that answer was kept.")


def _read_line(interactive: bool) -> str | None:
    """The next line, None at the end; bytes that are no UTF-8 are replaced, never fatal."""
    if interactive:
        try:
            return input("> ")
        except EOFError:
            print()
            return None
    raw = sys.stdin.buffer.readline()
    return raw.decode("utf-8", "replace") if raw else None


def _one_line(run: Run, session: Session, line: str, last: object) -> object:
    from agent.session import Reply
    from store.errors import MemlaneError
    from store.journal import Forget

    command, _, rest = line.partition(" ")
    now = session.config.now()
    try:
        if command == "/help":
            run.err.print(CHAT_HELP)
        elif command == "/why":
            if isinstance(last, Reply):
                render.why(run.err, last)
            else:
                run.err.print("There is no answer yet.")
        elif command == "/undo":
            entry = session.graph.undo(rest.strip() or None, at=now)
            _emit_line(run, {"edits": [shapes.edit(entry)]}, f"Undone: {render.edit_line(entry)}")
        elif command == "/forget":
            (entry,) = session.graph.apply([Forget(rest.strip())], at=now, actor="user")
            said = f"{render.edit_line(entry)}; /undo {entry.id} works for 30 days"
            _emit_line(run, {"edits": [shapes.edit(entry)]}, said)
        elif command.startswith("/") and len(command) > 1 and command[1:].isalpha():
            run.err.print(f"There is no command {command}. /help lists them.")
        else:
            reply = session.respond(line)
            if run.json:
                _print_line(shapes.reply(reply))
            else:
                render.reply(run.out, reply)
            return reply
    except MemlaneError as error:
        run.err.print(f"memlane: {error}", markup=False)
    return last


def _emit_line(run: Run, document: object, text: str) -> None:
    if run.json:
        _print_line(document)
    else:
        run.out.print(text, markup=False)


def _print_line(document: object) -> None:
    """One document on one line: chat prints a line a turn."""
    import json

    sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
    sys.stdout.flush()
