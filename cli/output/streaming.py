"""Display of streamed answers as drafts.

What a model writes is a draft until it is checked (``agent.answering.grounding``), and is shown as
one: dim, and gone from the screen when the checked answer takes its place. A draft that did not
stand the check is not hidden: it stays, struck through, with a line that says so. Nothing of a
draft ever goes into a pipe.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from agent.results import Reply

WITHDRAWN = "withdrawn: it did not pass the checks"
_TIMES_A_SECOND = 12


class StreamedAnswer:
    """A place on the screen for the words of an answer; a context manager that clears it again.

    ``waiting`` is shown at once with a moving sign; without it the first thing shown is a word.
    """

    def __init__(self, out: Console, *, waiting: str = "") -> None:
        self._out = out
        self._live: Live | None = None
        self._waiting = waiting
        self.text = ""

    def __enter__(self) -> Self:
        if self._waiting:
            self._show(Spinner("dots", Text(self._waiting, style="dim"), style="dim"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def add(self, piece: str) -> None:
        """Show a further piece."""
        self.text += piece
        self._show(Text(self.text.strip(), style="dim"))

    def _show(self, shown: RenderableType) -> None:
        if self._live is not None:
            self._live.update(shown)
        elif self._out.is_terminal:
            self._live = Live(
                shown, console=self._out, transient=True, refresh_per_second=_TIMES_A_SECOND
            )
            self._live.start()


def show_withdrawn(out: Console, draft: str, reply: Reply) -> None:
    """Show what was written and taken back, where the checked reply is not what was written."""
    from agent.answering.answer import admits_nothing, to_you

    said = draft.strip()
    stands = not reply.abstained and (said in reply.text or to_you(said) in reply.text)
    if said and not stands and not admits_nothing(said):
        out.print(Text(said, style="dim strike"))
        out.print(f"  {WITHDRAWN}", style="dim")
