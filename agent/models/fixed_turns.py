"""What the prompts of a task begin with: turns that are the same in every call, for everybody.

What a language model makes of them may be kept on disk (``prompt_cache``), so nothing that anybody
told may be among them. ``fixed`` is therefore called at the top of modules only, where nothing told
is known yet (``tests/test_architecture.py`` checks it), and a prompt counts as fixed as far as it
begins with the very turns that were noted there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent.ports import ChatTurn

_noted: dict[tuple[ChatTurn, ...], None] = {}


def fixed(system: str, examples: Iterable[tuple[str, str]] = ()) -> tuple[ChatTurn, ...]:
    """An instruction and worked examples (what is asked, what is answered), noted as fixed."""
    turns = [ChatTurn("system", system)]
    for asked, said in examples:
        turns += [ChatTurn("user", asked), ChatTurn("assistant", said)]
    _noted[tuple(turns)] = None
    return tuple(turns)


def count_fixed(turns: Sequence[ChatTurn]) -> int:
    """How many turns of a prompt are fixed: the longest noted beginning that turns follow."""
    beginnings = (len(noted) for noted in _noted if tuple(turns[: len(noted)]) == noted)
    return max((count for count in beginnings if count < len(turns)), default=0)
