"""Rewards as the person meets them: settings, the cache in the home, doctor, forgetting."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from agent.config import DEFAULT_LLM, load_config
from agent.models.adapters.llama.rewards.batch_engine import MOST
from agent.models.lazy import LocalRewardModel, open_cache
from agent.models.prompt_cache import FOLDER, PromptCache
from agent.models.reward_cache import RewardCache
from store.errors import HomeUnavailable
from tests.conftest import Result

Memlane = Callable[..., Result]


def filled(home: Path, count: int = 3) -> RewardCache:
    cache = open_cache(home, load_config().reward_cache_mb)
    names = [bytes([i]) * 32 for i in range(count)]
    cache.find(names)
    cache.keep({name: np.ones(4, np.float32) for name in names})
    cache.find(names[:2])
    return cache


def test_the_cache_is_shown_and_cleared(
    memlane: Memlane, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMLANE_MODELS_DIR", str(tmp_path / "models"))
    prompts = PromptCache(tmp_path / "models" / FOLDER)
    prompts.keep("a", bytes(1000))
    cache = filled(own_home)
    shown = memlane("models", "cache", "--json").json
    assert {key: shown[key] for key in ("entries", "hits", "misses", "limit", "path")} == {
        "entries": 3, "hits": 2, "misses": 3, "limit": 200_000_000, "path": str(cache.path),
    }  # fmt: skip
    assert shown["size"] > 0
    assert shown["prompts"] == {
        "path": str(prompts.folder), "entries": 1, "size": prompts.size(), "limit": prompts.limit,
    }  # fmt: skip
    assert "1 fixed parts of prompts, 0.0 of at most 300 MB" in memlane("models", "cache").out
    assert "2 of 5 lookups found a reward" in memlane("models", "cache").out
    cleared = memlane("models", "cache", "--clear", "--json").json
    assert cleared["removed"]["entries"] == 3
    assert cleared["prompts"]["removed"]["entries"] == 1
    assert prompts.count() == 0
    assert (cleared["entries"], cleared["hits"], cache.count()) == (0, 0, 0)
    assert "Removed 0 rewards" in memlane("models", "cache", "--clear").out


def test_hits_are_counted_over_processes(tmp_path: Path):
    path = tmp_path / "rewards.sqlite"
    for _ in range(2):
        cache = RewardCache(path)
        cache.find([b"x" * 32])
        cache.keep({b"x" * 32: np.ones(1, np.float32)})
        cache.close()
    assert RewardCache(path).totals() == (1, 1)


def test_a_cache_in_use_is_neither_lost_nor_in_the_way(own_home: Path, monkeypatch):
    cache = filled(own_home)
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **{**k, "timeout": 0.05}))
    other = connect(cache.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    late = RewardCache(cache.path)
    assert late.find([bytes(32)]) == [None], "computed again rather than waited for"
    with pytest.raises(HomeUnavailable, match="Close other memlane processes"):
        late.clear()
    other.execute("ROLLBACK")
    other.close()
    assert late.count() == 3
    late.close()


def test_forgetting_for_good_empties_it_for_everybody(memlane: Memlane, own_home: Path):
    cache = filled(own_home)
    added = memlane(
        "memories", "add", "My locker code is 4411.", "--subclass", "attribute.identity"
    )
    memory = added.err + added.out
    assert added.code == 0, memory
    found = memlane("memories", "list", "--json").json["memories"][0]["id"]
    assert memlane("memories", "forget", found, "--yes").code == 0
    assert cache.count() == 0
    assert cache.path.exists(), "emptied under whoever has it open, not unlinked"
    cache.keep({b"y" * 32: np.ones(2, np.float32)})
    assert cache.count() == 1


def test_rewards_come_from_the_llm_unless_said_otherwise(memlane: Memlane, monkeypatch):
    assert load_config().reward_model == DEFAULT_LLM
    assert load_config({"llm": "smollm2-135m"}).reward_model == "smollm2-135m"
    assert load_config({"llm": "http://127.0.0.1:1/v1"}).reward_model == DEFAULT_LLM
    assert load_config().batch == MOST
    memlane("config", "set", "reward_llm", "smollm2-135m")
    memlane("config", "set", "reward_cache_mb", "50")
    settings = {row["key"]: row for row in memlane("config", "--json").json["settings"]}
    assert settings["reward_llm"]["value"] == "smollm2-135m"
    assert settings["reward_llm"]["origin"] == "file"
    assert settings["reward_cache_mb"]["value"] == 50
    assert settings["batch"]["origin"] == "default"
    assert load_config().reward_model == "smollm2-135m"
    models = {m["name"]: m["in_use"] for m in memlane("models", "list", "--json").json["models"]}
    assert models["smollm2-135m"]
    assert memlane("config", "set", "reward_cache_mb", "none").code == 2


def test_the_doctor_tells_what_was_chosen_and_by_whom(
    memlane: Memlane, own_home: Path, monkeypatch
):
    monkeypatch.setenv("MEMLANE_THREADS", "1")
    monkeypatch.setenv("MEMLANE_REWARD_LLM", "smollm2-135m")
    filled(own_home)
    checks = {c["name"]: c["detail"] for c in memlane("doctor", "--quick", "--json").json["checks"]}
    for words in (
        "threads: 1 (yours: environment)",
        "context: 8192 tokens (default)",
        f"batch: at most {MOST} tokens (default)",
        "reward model: smollm2-135m (yours: environment)",
    ):
        assert words in checks["settings"]
    assert checks["reward cache"].startswith("3 rewards, 0.1 of at most 200 MB; 2 of 5")
    assert " of at most 300 MB; nothing that you told" in checks["prompt cache"]
    monkeypatch.delenv("MEMLANE_THREADS")
    checks = {c["name"]: c["detail"] for c in memlane("doctor", "--quick", "--json").json["checks"]}
    assert "(from this machine)" in checks["settings"]


def test_the_reward_model_of_the_configuration_keeps_what_it_computes(
    own_home: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.setenv("MEMLANE_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("MEMLANE_LLM", "smollm2-135m")
    config = load_config({"context": "1024"})
    first = LocalRewardModel(config).entropy(["User: Hello.\nAssistant:"], max_tokens=4)
    cache = open_cache(config.home, config.reward_cache_mb)
    assert cache.count() == 1
    again = LocalRewardModel(config)
    assert again.entropy(["User: Hello.\nAssistant:"], max_tokens=4) == first
    assert cache.totals() == (1, 1)
    assert again.choose(["Tea or"], [[" coffee", " zebra"]])[0].argmax() == 0
    assert again.log_likelihood(["Tea or"], [" coffee"])[0][0] < 0
    assert again.identity.startswith("SmolLM2-135M-Instruct")
    assert (config.models_dir / "batches.json").exists()
