"""Commands that talk: say, ask, remember, chat."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cli import everyday, render, shapes
from cli.run import Run
from cli.why import show_trace

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
    everyday.say(context.obj, text)


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How memories are chosen: walk or scout (learned), top-k, bm25, rrf, fused, "
            "fused-plain, recency, random, partitioned, decomposed, picked (by the language "
            "model), all.",
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="How many memories are chosen at most.")
    ] = None,
    no_llm: Annotated[
        bool, typer.Option("--no-llm", help="Show the chosen memories alone, without an answer.")
    ] = False,
) -> None:
    """Answer a question from your memories.

    The answer names the memories it rests on, and says so when nothing is known.
    """
    everyday.ask(context.obj, question, policy, k, no_llm)


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
    keep_secrets: Annotated[
        bool,
        typer.Option("--keep-secrets", help="Keep a card number, password or code in it."),
    ] = False,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Wait for the memory, not only until the text is stored."),
    ] = False,
) -> None:
    """Store a text as it stands.

    Relative dates become absolute, nothing else is rewritten. The resident process may answer
    once the text is stored; its memory follows in a moment.
    """
    everyday.remember(context.obj, text, at, place, expires, keep_secrets, wait)


CHAT_HELP = """/why   how the memories behind the last answer were chosen (or /why t12)
/undo  take back the last edit (or those named: /undo e12 e13)
/forget m12   take a memory out of answers; /undo works for 30 days, then it is gone for good
/good, /bad, /answer TEXT   judge the last answer; memlane train learns from it
/help  this list
/quit  leave (or Ctrl-D)"""


def chat(context: typer.Context) -> None:
    """Talk line by line, or through a pipe."""
    run: Run = context.obj
    interactive = sys.stdin.isatty()
    with run.session() as session:
        if interactive and not run.json:
            run.out.print("Tell me something, or ask. /help lists the commands, Ctrl-D leaves.")
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
                _one_line(run, session, line.strip())
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


def _one_line(run: Run, session: Session, line: str) -> None:
    from agent.tracing import read_trace
    from store.errors import MemlaneError
    from store.journal import Forget

    command, _, rest = line.partition(" ")
    now = session.config.now()
    try:
        if command == "/help":
            run.err.print(CHAT_HELP)
        elif command == "/why":
            trace = read_trace(session.graph, rest.strip() or None)
            if run.json:
                _print_line(shapes.trace(trace))
            else:
                show_trace(run.out, trace)
        elif command == "/undo":
            _undo(run, session, rest.split())
        elif command == "/forget":
            (entry,) = session.graph.apply([Forget(rest.strip())], at=now, actor="user")
            said = f"{render.edit_line(entry)}; /undo {entry.id} works for 30 days"
            _emit_line(run, {"edits": [shapes.edit(entry)]}, said)
        elif command in ("/good", "/bad", "/answer"):
            _judge(run, session, command[1:], rest.strip())
        elif command.startswith("/") and len(command) > 1 and command[1:].isalpha():
            run.err.print(f"There is no command {command}. /help lists them.")
        else:
            reply = session.respond(line)
            if run.json:
                _print_line(shapes.reply(reply))
            else:
                render.reply(run.out, reply)
    except MemlaneError as error:
        run.err.print(f"memlane: {error}", markup=False)


def _judge(run: Run, session: Session, word: str, text: str) -> None:
    """Keep what the person says of the last answer; learning from it would keep them waiting."""
    from agent.learning.feedback import judge
    from cli import feedback
    from store.learned import Judgement

    judged = judge(session, Judgement(word), text=text or None)
    _emit_line(run, feedback.shape(judged), feedback.said(judged))


def _undo(run: Run, session: Session, ids: list[str]) -> None:
    """Take back the edits named, together or not at all; without any the last one."""
    from store.undoing import last_edits, undo_all

    journal = session.graph.journal
    asked = [journal.get(edit) for edit in dict.fromkeys(ids)] or last_edits(journal, 1)
    done = undo_all(session.graph, asked, at=session.config.now())
    said = "\n".join(f"Undone: {render.edit_line(entry)}" for entry in done)
    _emit_line(run, {"edits": shapes.edits(done)}, said)


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
