"""docs/python.md: its example runs as it stands."""

from __future__ import annotations

import re
import tempfile
from functools import partial
from pathlib import Path

import pytest

import agent.session.session
from agent.ports import Embedder
from store.graph import MemoryGraph
from tests.conftest import ScriptedModel

DOC = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_example_runs_as_it_stands(
    embedder: Embedder,
    scripted: ScriptedModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    (example,) = re.findall(r"```python\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)
    scripted.replies = ["1. My cat Miso sees Dr Lund at the Hill Road practice."] * 4
    opened = partial(agent.session.session.open_session, llm=scripted, embedder=embedder)
    monkeypatch.setattr(agent.session.session, "open_session", opened)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    exec(compile(example, str(DOC), "exec"), {"__name__": "example"})
    printed = capsys.readouterr().out
    assert "update ['My cat Miso sees Dr Lund at the Hill Road practice.']" in printed
    assert "replace I live in Oslo. -> I moved to Bergen." in printed
    (home,) = tmp_path.glob("*/memlane.db")
    with MemoryGraph.open(home.parent) as graph:
        assert graph.verify() == ()
        assert graph.memories.get("m1").text.startswith("My cat Miso")
