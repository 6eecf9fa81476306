"""A home moves to another sentence encoder; its old vectors are used until that is done."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from safetensors.numpy import load_file, save_file

from agent.config import load_config
from agent.memory.vectors.encoder_move import EncoderMove, aim_at
from agent.models.lazy import LocalEmbedder
from agent.models.registry import ModelRegistry
from agent.server.resident import background
from agent.server.resident.service import Desk
from agent.server.resident.workers import Lane
from agent.session.session import open_session

TOLD = ("My locker code is 4411.", "My sister lives in Oslo.", "My dentist is Dr Fang.")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another encoder: the built-in one with other weights."""
    folder = tmp_path_factory.mktemp("other") / "encoder"
    shutil.copytree(ModelRegistry(folder.parent).resolve_embedder("all-minilm-l6-v2"), folder)
    weights = dict(load_file(folder / "model.safetensors"))
    first = sorted(weights)[0]
    weights[first] = weights[first] * 1.01
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return folder


def test_use_encoder_moves_a_home_and_questions_go_on(memlane, other):
    for text in TOLD:
        memlane("remember", text)
    done = memlane("--json", "models", "use-encoder", str(other)).json
    assert done == {"encoder": str(other), "made": len(TOLD), "waiting": 0, "in_use": True}
    assert load_config().embedder == str(other)
    assert load_config().next_embedder == ""
    assert "4411" in memlane("ask", "--no-llm", "What is my locker code?").out
    # What the shipped weights read still goes by the encoder that they were trained on.
    assert memlane("say", "My gym is Fit24.").code == 0


def test_a_language_model_is_no_encoder(memlane):
    assert memlane("models", "use-encoder", "smollm2-135m").code == 2


def test_a_move_goes_on_where_it_stopped_and_old_vectors_are_used(memlane, other):
    for text in TOLD:
        memlane("remember", text)
    aim_at(str(other))
    with open_session(load_config()) as session:
        new = LocalEmbedder(replace(session.config, embedder=str(other)))
        assert EncoderMove(session.graph, new).step(1) == 1
        assert EncoderMove(session.graph, new).left == len(TOLD) - 1
        assert session.embedder.identity != new.identity
        found = session.ask("What is my locker code?", use_llm=False).memories
        assert "4411" in found[0].memory.text
        assert EncoderMove(session.graph, new).run() == len(TOLD) - 1
        assert EncoderMove(session.graph, new).left == 0


def test_the_resident_process_moves_in_the_background_and_ends(memlane, other, monkeypatch):
    for text in TOLD:
        memlane("remember", text)
    aim_at(str(other))
    monkeypatch.setattr(background, "ENCODE_S", 0.01)
    ended: list[bool] = []
    with open_session(load_config()) as session:
        lane = Lane("quick")
        desk = SimpleNamespace(
            config=session.config, encoding=False, quick=lane, sessions={lane: session}
        )
        asyncio.run(background.move_encoder(cast(Desk, desk), lambda: ended.append(True)))
    assert ended == [True]
    assert load_config().embedder == str(other)
    assert load_config().next_embedder == ""
