"""The watcher that ``test_watching`` kills: real files, a real queue, scripted models.

Run as ``python -m tests.support.watch_work HOME FOLDER``; it watches until it is killed or told to
stop.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from threading import Event

from agent.config import load_config
from agent.io import watch
from agent.io.watch import Watcher, only_watcher
from agent.io.watch_status import add_folders
from agent.session.session import Session
from store.graph import MemoryGraph
from tests.support.crash_work import HashEncoder, SilentModel


def main(home: Path, folder: Path) -> None:
    watch.SETTLE = 0.2
    config = load_config({"home": str(home)})
    stop = Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with (
        MemoryGraph.open(home) as graph,
        only_watcher(home),
    ):
        add_folders(graph, [folder], config)
        session = Session(config, graph, llm=SilentModel(), embedder=HashEncoder())
        Watcher(session, wait=lambda: "").run(
            stop, lambda report: print(report.status, Path(report.path).name, flush=True)
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
