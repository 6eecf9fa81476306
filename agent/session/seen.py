"""The graphs of the spaces that a space may see, open as long as that is allowed."""

from __future__ import annotations

from collections.abc import Iterator

from agent.config import Config
from store.database.connection import DATABASE_NAME
from store.graph import MemoryGraph
from store.spaces import Space, seen_by

_File = tuple[int, int]


class SeenSpaces:
    """What may be seen is read anew for each request: a permission that is taken back holds at
    once."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[_File, MemoryGraph]] = {}

    def graphs(self, config: Config) -> Iterator[tuple[Space, MemoryGraph]]:
        """The spaces that the space of ``config`` sees, with their graphs.

        :raises InvalidInput: if the file of what spaces see cannot be read.
        :raises StoreError: if a database cannot be opened.
        """
        seen = {one.name: one for one in seen_by(config.root, config.space)}
        for name in self._open.keys() - seen.keys():
            self._open.pop(name)[1].close()
        for name, space in seen.items():
            path = space.home / DATABASE_NAME
            if not path.exists():
                continue
            found = path.stat()
            file = found.st_dev, found.st_ino
            if name in self._open and self._open[name][0] != file:  # removed and made anew
                self._open.pop(name)[1].close()
            if name not in self._open:
                self._open[name] = file, MemoryGraph.open(space.home)
            yield space, self._open[name][1]

    def close(self) -> None:
        for _, graph in self._open.values():
            graph.close()
        self._open.clear()
