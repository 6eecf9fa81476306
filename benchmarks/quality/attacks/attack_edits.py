"""A process that changes memories in every way until it is killed: ``python -m ... HOME NAME``.

Each line that it prints is acknowledged. ``~ TEXT`` says that a change begins after which the text
may be there or not, ``+ TEXT`` that it holds now, ``- TEXT`` that it holds no longer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from store.graph import MemoryGraph
from store.journal import Amend, Edit, Forget, Insert, Replace
from store.types import Draft, SourceKind

PLACE = "attribute.belongings"
WAYS = 6
"""Ways of a change, which take turns."""


def main() -> None:
    home, name = Path(sys.argv[1]), sys.argv[2]
    with MemoryGraph.open(home) as graph:
        for number in range(100_000):
            _one(graph, f"My box {name}-{number} holds {number} books.", number % WAYS)


def _one(graph: MemoryGraph, text: str, way: int) -> None:
    now = datetime.now().astimezone()
    source = graph.sources.add(SourceKind.MANUAL, text, now)
    new = f"{text[:-1]} now."

    def apply(edit: Edit) -> str:
        return graph.apply([edit], at=now, actor="user")[0].id

    def draft(words: str) -> Draft:
        return Draft(words, PLACE, now, source=source.id)

    _tell("~", text)
    apply(Insert(draft(text)))
    _tell("+", text)
    memory = graph.memories.saying(text)[0].id
    _tell("~", text, new)
    if way == 0:
        apply(Replace(memory, draft(new)))
    elif way == 1:
        apply(Amend(memory, text=new))
    elif way == 2:
        apply(Forget(memory))
    elif way == 3:
        graph.erase([memory], at=now)
    else:
        graph.undo(apply(Forget(memory)), at=now)
    _tell("-" if way < 4 else "+", text)
    _tell("+" if way < 2 else "-", new)


def _tell(state: str, *texts: str) -> None:
    for text in texts:
        print(f"{state} {text}", flush=True)


def acknowledged(lines: Iterable[str]) -> dict[str, str]:
    """Of each text the last that was said of it: ``~``, ``+`` or ``-``."""
    return {line[2:]: line[0] for line in lines}


if __name__ == "__main__":
    main()
