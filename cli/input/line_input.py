"""Line input of the chat: terminal with history and completion, or pipe.

The history is the chat itself: what was said is a turn of the home's database (0600), and is read
from there. So there is no second file to keep, what is forgotten is in no history, and what was
said in private never was in one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.key_binding import KeyBindings

    from store.graph import MemoryGraph

REMEMBERED = 200
"""Messages of earlier chats that the arrow keys go back to."""

Offers = Callable[[str], Iterable[tuple[str, str]]]
"""For a command: what can follow it, each with a few words on what that is."""


class LineSource(Protocol):
    """Gives one message after the other."""

    def next(self, *, private: bool) -> str | None:
        """The next message; None at the end. :raises KeyboardInterrupt: on Ctrl-C."""
        ...


class Pipe:
    """A message a line; bytes that are no UTF-8 are replaced, never fatal."""

    def next(self, *, private: bool) -> str | None:
        raw = sys.stdin.buffer.readline()
        return raw.decode("utf-8", "replace") if raw else None


class Terminal:
    """Line editing, history and completion; what is pasted is one message, however many lines.

    The prompt goes to stderr, so that stdout holds the answers alone.
    """

    def __init__(self, commands: dict[str, str], offers: Offers, history: Iterable[str]) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import DummyHistory, InMemoryHistory
        from prompt_toolkit.output import create_output

        completer = _completer(commands, offers)

        class Said(InMemoryHistory):
            """What was said before, and what is said now unless it is private."""

            def append_string(self, string: str) -> None:
                if not string.lstrip().startswith("/private"):
                    super().append_string(string)

        def asking(past: InMemoryHistory | DummyHistory) -> PromptSession[str]:
            return PromptSession(
                history=past,
                completer=completer,
                complete_while_typing=False,
                multiline=True,
                prompt_continuation="  ",
                key_bindings=_keys(),
                output=create_output(sys.stderr),
                enable_open_in_editor=False,  # it would write what is typed into /tmp
            )

        self._open, self._private = asking(Said(list(history))), asking(DummyHistory())

    def next(self, *, private: bool) -> str | None:
        try:
            return (self._private if private else self._open).prompt(
                "private> " if private else "> "
            )
        except EOFError:
            return None


def _keys() -> KeyBindings:
    """Enter sends, also where a paste made several lines; Alt-Enter begins a new line."""
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    keys = KeyBindings()

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def _completer(commands: dict[str, str], offers: Offers) -> Completer:
    from prompt_toolkit.completion import Completer, Completion

    class Commands(Completer):
        """Commands, and the ids that can follow them; nothing is offered within a message."""

        def get_completions(
            self, document: Document, complete_event: CompleteEvent
        ) -> Iterable[Completion]:
            typed = document.text_before_cursor
            if not typed.startswith("/"):
                return
            command, space, _ = typed.partition(" ")
            found = offers(command) if space else commands.items()
            begun = typed.rpartition(" ")[2]
            for word, what in found:
                if word.startswith(begun):
                    yield Completion(word, start_position=-len(begun), display_meta=what)

    return Commands()


def said_before(graph: MemoryGraph) -> list[str]:
    """The messages of earlier chats, oldest first, without anything that is forgotten."""
    from store.erasure.plan import GONE
    from store.tables.sources import BLANK

    turns = graph.turns.last(REMEMBERED)
    return [t.text for t in turns if BLANK not in t.text and GONE not in t.text]
