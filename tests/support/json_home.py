"""The home in which the examples of docs/cli.md are run, and what happens there between them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import agent.session.session
from agent.config import load_config
from agent.extraction.triples.read import triples_for
from agent.models.adapters import hub_download
from agent.models.lazy import LocalLanguageModel, LocalRewardModel
from agent.models.worker.settings import Finding, Role, rungs
from agent.ports import ChatTurn, Embedder
from agent.server.browser.pairing import digest_of
from agent.server.hooks.ended import Ended, EndedSessions
from agent.server.resident import client
from agent.session.session import Session
from cli.commands.conversation import demo
from cli.commands.processes import resident
from store.database.encryption.keys import forget_keys
from store.graph import MemoryGraph
from store.journal import Insert
from store.sync.names import KEY
from store.tables.side_tables.change_edges import ChangeEdge, ChangeKind
from store.tables.side_tables.pending_questions import QuestionKind
from store.tables.side_tables.personas import NewLine, PersonaLayer
from store.tables.side_tables.programs.mcp_confirmations import Confirmation
from store.tables.side_tables.watch_queue import FileState, WatchedFile
from store.types import Draft, Trust
from tests.conftest import NOW
from tests.support import agent_sessions
from tests.support.documented_home import PAGE, DocsModel, DocsRewards
from tests.support.documents import mail
from tests.support.learning import live, practise
from tests.support.refining import LINE, RUNNING, Refiner

PLAY = demo.play
PATIENCE_S = 120.0
THEN = NOW - timedelta(days=2)
TOLD = (
    ("My name is Ann Berg.", "attribute.name"),
    ("My boss is Kenji Tan.", "relationship.colleague_friends"),
    ("I live in Bergen.", "attribute.address"),  # m3
    ("Mr Tan drinks only green tea.", "preference.diet"),
    ("Tom plays chess.", "preference.gaming"),  # m5
    ("Tom works at the harbour.", "attribute.occupation"),  # m6
    ("Orchard Clinic is at 12 Mill Road, Leeds.", "attribute.address"),  # m7
    ("My dentist appointment is at Orchard Clinic on 2024-05-14 at 15:40.", "event.arrangement"),
    ("My passport number is X1234567.", "attribute.identity"),
    ("My neighbour Rosa keeps hens.", "relationship.colleague_friends"),  # m10
    ("I work at Acme.", "attribute.occupation"),
    ("My bicycle is red.", "attribute.belongings"),  # m12
    *((text, "preference.sports") for text in RUNNING),  # m13 to m15
    ("Uncle Leo lives in Lyon.", "relationship.relatives"),
    ("Uncle Leo lives in Nice.", "relationship.relatives"),
    ("I work at Globex.", "attribute.occupation"),
)
CHATS = [{"uuid": "k1", "name": "Tea", "created_at": "2024-05-01T08:00:00Z", "chat_messages": [
    {"uuid": "c", "sender": "human", "text": "I am allergic to nuts."}
]}]  # fmt: skip
"""An export of Claude, with one message."""
FILES = {
    "broken.jsonl": '{"kind": "memory", "broken\n',
    "calendar.ics": "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART:20240610T100000Z\n"
    "SUMMARY:Choir\nEND:VEVENT\nEND:VCALENDAR\n",
    "chat.txt": "I bought a kayak.\n/undo\n/private I like opera.\n",
    "checkin.html": PAGE,
    "claude.json": json.dumps(CHATS),
    "desk/plan.md": "The plan is due on Friday.\n",
    "edited.md": "---\nid: m7\nsubclass: attribute.address\n---\n\n"
    "Orchard Clinic is at 14 Mill Road, Leeds.\n",
    "later.md": "---\nid: m6\nsubclass: attribute.occupation\n---\n\nTom works at sea.\n",
    "letter.eml": mail("The picnic is at Vigeland park.").decode(),
    "notes/home.md": "My piano teacher is Olga.\n",
    "notes/trip.md": "The ferry to Bergen takes six hours.\n",
    "passphrase.txt": "nine green otters\n",
    "passphrases.txt": "nine green otters\nten blue herons\n",
}


class Model(Refiner):
    """Says what the models of the other tests say: of running, and of the small life."""

    def reply_to(self, turns: Sequence[ChatTurn]) -> str:
        asked = turns[-1].content
        if re.search(r"Known:|Statement:|\brun\b", asked):
            return super().reply_to(turns)
        return str(DocsModel().reply_to(turns))


@contextmanager
def person(folder: Path, embedder: Embedder) -> Iterator[None]:
    """Be a person with this home folder, with models that are at hand at once."""
    home = folder / ".local" / "share" / "memlane"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MEMLANE_")}
    environment = kept | {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / ".config"),
        "MEMLANE_HOME": str(home),
        "MEMLANE_CONFIG": str(folder / ".config" / "memlane" / "config.toml"),
        "MEMLANE_MODELS_DIR": str(folder / ".cache" / "memlane" / "models"),
        "MEMLANE_RESIDENT": "no",
    }
    opened = partial(
        agent.session.session.open_session, llm=Model(), embedder=embedder, rewards=DocsRewards()
    )
    before = Path.cwd()
    with ExitStack() as stack:
        stack.callback(os.chdir, before)
        stack.callback(forget_keys)
        stack.enter_context(patch.dict(os.environ, environment, clear=True))
        stack.enter_context(patch.object(agent.session.session, "open_session", opened))
        stack.enter_context(patch.object(demo, "play", _begins))
        # Nothing here is about how fast a process starts, and the machine may be busy.
        stack.enter_context(patch.multiple(resident, START_S=PATIENCE_S, END_S=PATIENCE_S))
        stack.enter_context(patch.object(client, "_HELLO_S", PATIENCE_S))
        stack.enter_context(patch.object(hub_download, "download", _downloaded))
        stack.enter_context(patch.object(LocalLanguageModel, "check", _checked("chat")))
        stack.enter_context(patch.object(LocalRewardModel, "check", _checked("rewards")))
        os.chdir(folder)
        lay_out(folder, home, embedder)
        stack.callback(_nothing_runs)
        yield


def lay_out(folder: Path, home: Path, embedder: Embedder) -> None:
    """The files of the person, their memories, and the homes of two others."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "Sync").mkdir()
    for other in ("ann", "ben"):
        with MemoryGraph.open(folder / other) as graph:
            practise(graph, live(graph))
    with MemoryGraph.open(home) as graph:
        drafts = [Draft(text, place, THEN, triples_for([text], None)[0]) for text, place in TOLD]
        kiosk = Draft("The kiosk sells stamps.", "preference.other", THEN.replace(year=2020))
        sauna = Draft("The sauna is closed.", "preference.other", THEN)
        drafts.append(replace(kiosk, trust=Trust.SEEN))
        drafts.append(replace(sauna, valid_until=NOW - timedelta(hours=12)))
        entries = graph.apply([Insert(draft) for draft in drafts], at=THEN, actor="user")
        practise(graph, live(graph))
        run = graph.memories.of([entry.memory for entry in entries[12:15]])
        line = NewLine(
            PersonaLayer.DISTILLED, "m13", "told", "preference.sports", LINE, run, "scripted",
            embedder.encode([LINE])[0],
        )  # fmt: skip
        graph.personas.put([line], at=THEN, model=embedder.identity)


def _nothing_runs() -> None:
    """End a resident process that a failure has left behind."""
    resident.stop(load_config())


def _begins(session: Session) -> Iterator[demo.DemoStep]:
    """The steps of the demo that ask no language model: what it answers is not scripted."""
    return islice(PLAY(session), 2)


def _downloaded(repo: str, filename: str, folder: Path, on_progress: object = None) -> Path:
    """What the model hub would send, without asking it."""
    path = folder / filename
    path.write_bytes(b"GGUF")
    return path


def _checked(role: Role) -> Callable[[object], Finding]:
    fast, *_ = rungs(role, 2)
    return lambda self: Finding("model.gguf:0123456789ab", role, fast, (), "2024-05-08", 3.2)


# ---- what happens ---------------------------------------------------------------------------


def something_is_in_doubt() -> None:
    with MemoryGraph.open(load_config().home) as graph, graph.writing():
        graph.change_edges.put([ChangeEdge("m10", "m35", ChangeKind.SUPERSEDES, 0.83)], NOW)
        graph.questions.put(QuestionKind.HOLDS, ("m10", "m35"), NOW)


def files_were_watched() -> None:
    """One was read, one was deleted, and one could not be read."""
    folder = Path.home() / "notes"
    with MemoryGraph.open(load_config().home) as graph:

        def put(name: str, state: FileState, reason: str | None = None) -> None:
            path = folder / name
            found = graph.sources.all_from(str(path))
            source = found[0].id if found else None
            graph.watched.put([WatchedFile(path, folder, state, 9, 0, 0.0, 1, NOW, source, reason)])

        put("home.md", FileState.DONE)
        put("trip.md", FileState.GONE)
        put("scan.png", FileState.FAILED, "not an image")


def the_key_is_written_down() -> None:
    with MemoryGraph.open(load_config().home) as graph:
        Path("key.txt").write_text(f"{graph.sync.state(KEY)}\n")


def a_session_ended() -> None:
    folder = Path.home()
    (folder / "app" / ".git").mkdir(parents=True)
    path = agent_sessions.write(folder / "sessions", str(folder / "app"))["claude-code"]
    EndedSessions(load_config().home).put(Ended("claude-code", str(path), str(folder / "app")))


def a_browser_was_paired() -> None:
    origin = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"
    with MemoryGraph.open(load_config().home) as graph:
        graph.browsers.put("Chrome", origin, digest_of("a token"), 8766, NOW)


def a_program_asked() -> None:
    until = NOW + timedelta(minutes=5)
    asked = Confirmation("482913", "claude-code", "edit", "m4", "Mr Tan drinks tea.", until)
    with MemoryGraph.open(load_config().home) as graph:
        graph.confirmations.put(asked, "digest", NOW)
