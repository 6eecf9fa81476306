"""For tests of the refined layers: memories about running, and a model that refines them."""

from __future__ import annotations

from collections.abc import Sequence

from agent.ports import ChatTurn
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft
from tests.conftest import NOW, ScriptedModel

RUNNING = (
    "I run along the canal every Sunday.",
    "I run races, such as the half marathon in May.",
    "I run trails in my new running shoes.",
)
LINE = "I run regularly and train for races."


class Refiner(ScriptedModel):
    """Distils what is about running, induces one line, and finds it likely."""

    distilled = LINE
    induced = "1. I take care of my health."

    def reply_to(self, turns: Sequence[ChatTurn]) -> str:
        asked = turns[-1].content
        if asked.startswith("Known:"):
            return self.induced
        if "Statement:" in asked:
            return "yes"
        return self.distilled if "run" in asked else "I enjoy vegetarian food."


def tell(graph: MemoryGraph, *texts: str, subclass: str = "preference.sports") -> list[str]:
    entries = graph.apply([Insert(Draft(text, subclass, NOW)) for text in texts], at=NOW)
    return [entry.memory for entry in entries]
