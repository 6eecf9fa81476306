"""``memlane chat``: interactive conversation in a terminal or over a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import Thread
from typing import TYPE_CHECKING

import typer

from cli.commands.conversation.why import show_words
from cli.context import Run
from cli.output import json_output, render
from store.errors import MemlaneError

if TYPE_CHECKING:
    from rich.console import Console

    from agent.results import Exchange, Reply
    from agent.server.resident.client import Client
    from agent.session.session import Session
    from cli.input.line_input import LineSource
    from store.journal import Entry

COMMANDS = {
    "/why": "why the last answer is based on those memories (or /why t12)",
    "/undo": "undo the last edit (or the named ones: /undo e12 e13)",
    "/forget": "hide a memory from answers; /undo works for 30 days, then it is erased for good",
    "/good": "mark the last answer as correct; memlane train learns from it",
    "/bad": "mark the last answer as wrong",
    "/answer": "give the correct answer: /answer TEXT",
    "/private": "store nothing until /private is entered again; /private TEXT for one message",
    "/help": "this list",
    "/quit": "leave (or Ctrl-D)",
}
KEYS = "Ctrl-C stops an answer, Alt-Enter starts a new line, Tab completes, arrows recall input."
SHOWN = 3
"""Exchanges of the last conversation that a new one begins with."""
OFFERED = 12
"""Edits, memories or turns that completion offers."""


LINES = 4
"""Lines from which a message is a text that takes a while to read."""


def chat(context: typer.Context) -> None:
    """Chat in the terminal, or line by line through a pipe.

    Continues the earlier conversation: 'it', 'there' and 'the second one' refer to it. In the
    terminal, /help lists the commands. After /private nothing you say is stored.
    """
    run: Run = context.obj
    with run.session() as session:
        talk = Conversation(run, session)
        run.keep_resident()
        Thread(target=talk.get_ready, daemon=True).start()
        interactive = sys.stdin.isatty() and sys.stderr.isatty()
        lines = _lines(talk, interactive=interactive)
        run.out.soft_wrap = not run.out.is_terminal  # lines break between words there
        if interactive and not run.json:
            show_last(run.err, session)
            run.err.print(
                "Tell me something or ask a question. /help lists the commands, Ctrl-D quits."
            )
        while True:
            try:
                line = lines.next(private=talk.private is not None)
            except KeyboardInterrupt:
                continue
            if line is None or line.strip() in ("/quit", "/exit"):
                return
            if line.strip():
                talk.take(line.strip())


def _lines(talk: Conversation, *, interactive: bool) -> LineSource:
    from cli.input.line_input import Pipe, Terminal, said_before

    if not interactive:
        return Pipe()
    return Terminal(COMMANDS, talk.offers, said_before(talk.session.graph))


@dataclass
class Conversation:
    """One conversation: who answers, and what was said in private so far."""

    run: Run
    session: Session
    private: list[Exchange] | None = None
    """What was said since /private; None outside of it."""
    _noticed: set[str] = field(default_factory=set)

    def take(self, line: str) -> None:
        """One line, all the way; what goes wrong is a line on stderr, and the chat goes on."""
        from store.database.notices import listening

        command, _, rest = line.partition(" ")
        notices: list[str] = []  # told below the answer: above it they would break into its draft
        try:
            if command.startswith("/") and command[1:].isalpha():
                self._command(command, rest.strip())
            else:
                with listening(notices.append):
                    self._message(line, self.private)
        except KeyboardInterrupt:
            self.run.err.print(self._stopped(line))
        except MemlaneError as error:
            self.run.err.print(f"memlane: {error}")
            if self.run.json:
                _print_line({"error": str(error)})
        for notice in notices:
            self.run.err.print(f"memlane: {notice}")

    def get_ready(self) -> None:
        """Let the resident process load the language model while the person types."""
        from agent.server.resident.client import connect
        from agent.server.resident.paths import Place, wait_for_start

        wait_for_start(Place(self.run.config.home))
        with suppress(MemlaneError, OSError):  # the first message is answered without that, too
            if (client := connect(self.run.config, lambda _: None)) is not None:
                client.prepare()

    def _stopped(self, line: str) -> str:
        """What to say of a message that the person stopped."""
        from store.types import SourceStatus

        waiting = self.session.graph.sources.list(SourceStatus.PENDING)
        if any(source.text == line for source in waiting):
            return "Stopped. The text is stored and not read yet: memlane ingest --retry reads it."
        return "Stopped. The answer was not stored."

    # ---- messages -------------------------------------------------------------------------

    def _message(self, text: str, private: list[Exchange] | None) -> None:
        from agent.results import Exchange
        from cli.output.streaming import StreamedAnswer, show_withdrawn

        run = self.run
        answering = self._answering()
        if run.json:
            reply = answering.respond(text, private=private)
            _print_line(
                {**json_output.reply(reply), **({} if private is None else {"private": True})}
            )
        else:
            waiting = _doing(text) if self._is_loaded(answering) else ""
            with StreamedAnswer(run.out, waiting=waiting) as draft:
                reply = answering.respond(text, draft.add, private=private)
            show_withdrawn(run.out, draft.text if run.out.is_terminal else "", reply)
            show(run.out, reply)
        if private is not None:
            private.append(Exchange(text, reply.text, reply.route.value == "neither"))

    def _answering(self) -> Session | Client:
        """The resident process while it is up, else this one; asked anew for each message."""
        from agent.server.resident.client import connect
        from agent.server.resident.paths import Place, wait_for_start

        wait_for_start(Place(self.run.config.home))
        return connect(self.run.config, self.notice) or self.session

    def notice(self, line: str) -> None:
        """One line beside the conversation, told once."""
        if line not in self._noticed:
            self._noticed.add(line)
            self.run.err.print(f"memlane: {line}")

    def _is_loaded(self, answering: Session | Client) -> bool:
        # Weights that are put together for the first time have a bar of their own.
        return answering is not self.session or bool(getattr(self.session.llm, "loaded", False))

    # ---- commands -------------------------------------------------------------------------

    def _command(self, command: str, rest: str) -> None:
        if command == "/help":
            self._help()
        elif command == "/private":
            self._private(rest)
        elif command not in COMMANDS:
            self.run.err.print(f"There is no command {command}. /help lists them.")
        elif self.private is not None:
            self.run.err.print(
                "Nothing is stored or changed in private mode. Leave it first: /private"
            )
        elif command == "/why":
            self._why(rest)
        elif command == "/undo":
            self._undo(rest.split())
        elif command == "/forget":
            self._forget(rest)
        else:
            self._judge(command[1:], rest)

    def _help(self) -> None:
        width = max(map(len, COMMANDS)) + 1
        for command, what in COMMANDS.items():
            self.run.err.print(f"{command:<{width}} {what}")
        self.run.err.print(KEYS)

    def _private(self, text: str) -> None:
        if text:
            self._message(text, self.private if self.private is not None else [])
        elif self.private is None:
            self.private = []
            self.run.err.print("Private mode: I store nothing from now on. /private ends it.")
        else:
            self.private = None
            self.run.err.print("Private mode is off. Nothing said in it was kept.")

    def _why(self, turn: str) -> None:
        from agent.answering.trace import read_trace

        trace = read_trace(self.session.graph, turn or None)
        if self.run.json:
            _print_line(json_output.trace(trace))
        else:
            show_words(self.run.out, trace)

    def _undo(self, ids: Sequence[str]) -> None:
        """Take back the edits named, together or not at all; without any the last one."""
        from store.maintenance.batch_undo import last_edits, undo_all

        graph = self.session.graph
        entries = [graph.journal.get(edit) for edit in dict.fromkeys(ids)]
        done = undo_all(graph, entries or last_edits(graph.journal, 1), at=self._now())
        said = "\n".join(f"Undone: {render.edit_line(entry)}" for entry in done)
        self._emit({"edits": json_output.edits(done)}, said)

    def _forget(self, memory: str) -> None:
        from store.journal import Forget

        (entry,) = self.session.graph.apply([Forget(memory)], at=self._now(), actor="user")
        said = f"{render.edit_line(entry)}; /undo {entry.id} works for 30 days"
        self._emit({"edits": [json_output.edit(entry)]}, said)

    def _judge(self, word: str, text: str) -> None:
        """Keep what is said of the last answer; learning from it would keep the person waiting."""
        from agent.learning.feedback import judge
        from cli.commands.conversation import feedback
        from store.tables.side_tables.training_data import AnswerJudgement

        judged = judge(self.session, AnswerJudgement(word), text=text or None)
        self._emit(feedback.shape(judged), feedback.said(judged))

    def offers(self, command: str) -> Iterable[tuple[str, str]]:
        """What can follow a command: ids of edits, memories or turns, newest first."""
        graph = self.session.graph
        if command == "/undo":
            for entry in reversed(graph.journal.list(OFFERED)):
                yield entry.id, render.edit_line(entry).partition(" ")[2]
        elif command == "/forget":
            for entry in reversed(graph.journal.list(OFFERED)):
                if entry.after:
                    yield entry.memory, entry.after
        elif command == "/why":
            for turn in reversed(graph.turns.last(OFFERED)):
                yield turn.id, turn.text

    def _now(self) -> datetime:
        return self.session.config.now()

    def _emit(self, document: object, text: str) -> None:
        if self.run.json:
            _print_line(document)
        else:
            self.run.out.print(text)


# ---- on the screen --------------------------------------------------------------------------


def show(out: Console, reply: Reply) -> None:
    """A reply, and quietly under it what was remembered or changed, with its undo."""

    if reply.read_as:
        out.print(f"  (read as: {reply.read_as})", style="dim")
    if not reply.entries:
        render.reply(out, reply)
        return
    if reply.answer:
        out.print(reply.answer)
        render.evidence(out, reply)
    # The first lines tell the edits; what follows is what else there is to say.
    rest = reply.noted.splitlines()[len(reply.entries) :]
    out.print("Noted." if not rest else "\n".join(["Noted.", *rest]))
    for entry in reply.entries:
        out.print(f"  {_change(entry)}   /undo {entry.id}", style="dim")
    if len(reply.entries) > 1:
        ids = " ".join(entry.id for entry in reply.entries)
        out.print(f"  undo all: /undo {ids}", style="dim")


def _change(entry: Entry) -> str:
    """What one edit did, in a few words."""
    after, before = entry.after, entry.before
    last = entry.changes[-1].after
    end = last.valid_until if last else None
    until = f" until {end:%Y-%m-%d %H:%M}" if end else ""
    match entry.kind.value:
        case "insert":
            return f"remembered{until}: {after}"
        case "expire" if before is None:
            return f"remembered{until}: {after}"
        case "expire":
            return f"now ends{until}: {before}"
        case "replace":
            return f"changed: {before} -> {after}"
        case "amend":
            return f"corrected: {before} -> {after}"
        case "forget":
            return f"no longer used: {before}"
        case kind:
            return f"{kind}: {after or before or ''}"


def show_last(out: Console, session: Session) -> None:
    """The end of the last conversation, which the new one goes on with."""

    from agent.answering.question.references import goes_on

    now = session.config.now()
    for turn in session.graph.turns.last(SHOWN):
        if goes_on(turn, now):
            out.print(f"{_when(turn.at, now)} > {_short(turn.text)}", style="dim")
            if turn.reply:
                out.print(f"  {_short(turn.reply)}", style="dim")


def _doing(text: str) -> str:
    """What is done with a message, while it is."""
    lines = len(text.splitlines())
    if lines < LINES:
        return "…"
    return f"reading {lines} lines (Ctrl-C gives the prompt back; the text is kept)"


def _when(at: datetime, now: datetime) -> str:
    """'09:12', of another day 'Fri 18:04'."""
    here = at.astimezone(now.tzinfo)
    return f"{here:%H:%M}" if here.date() == now.date() else f"{here:%a %H:%M}"


def _short(text: str, most: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _print_line(document: object) -> None:
    """One document on one line: chat prints a line a turn."""
    import json

    sys.stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
    sys.stdout.flush()
