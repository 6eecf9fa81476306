"""A home with three spaces, and what is told and asked in them."""

from __future__ import annotations

from collections.abc import Callable

from agent.config import Config, load_config
from store.spaces import MAIN
from tests.conftest import NOW, Result

Memlane = Callable[..., Result]
SECRET = "Zanzibarqux"
TOLD = f"My access code for the archive is kept by {SECRET}."
ASKED = "Who keeps my access code for the archive?"
OWN = {
    MAIN: "My cat is called Mia.",
    "work": "My manager is called Rosa.",
    "club": "I play the cello on Tuesdays.",
}


def config_in(space: str) -> Config:
    return load_config({"space": space}, now=NOW)


def told_in(memlane: Memlane, space: str) -> None:
    project = ("--place", "/home/omar/app")
    assert memlane("--space", space, "remember", TOLD, *project).code == 0


def ids_in(memlane: Memlane, space: str) -> dict[str, str]:
    """The text of each memory that a space lists, by its id."""
    found = memlane("--space", space, "list", "--json").json["memories"]
    return {one["id"]: one["text"] for one in found}


def asked_in(memlane: Memlane, space: str) -> str:
    return memlane("--space", space, "ask", "--no-llm", ASKED).out
