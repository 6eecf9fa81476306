"""The reward engine on the real 135M model: exact whatever it is asked together with."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.errors import EmptyContinuation, ModelError, PromptTooLong
from agent.models.adapters.llama.prefix_tree import Path as TokenPath
from agent.models.adapters.llama.prefix_tree import reading_order, windows
from agent.models.adapters.llama.rewards import batch_engine as engines
from agent.models.adapters.llama.rewards.decode_tasks import Drawing
from agent.models.adapters.llama.rewards.fingerprint import fingerprint
from agent.models.adapters.llama.rewards.logits import RowReader
from agent.models.adapters.llama.rewards.reward_model import LlamaRewards
from agent.models.registry import ModelRegistry
from agent.models.reward_cache import RewardCache
from agent.models.weight_files import BatchSizes
from agent.ports import ChatTurn

MEMORIES = ("I live in Porto.", "My sister Mia bakes bread.", "I am vegan.", "I play the violin.")
SHORT: dict[str, Any] = {"samples": 3, "max_tokens": 6}


def prompt(chosen: Sequence[int]) -> str:
    facts = " ".join(MEMORIES[i] for i in chosen)
    return f"User: {facts} What should I cook tonight?\nAssistant:"


PROMPTS = [prompt(chosen) for n in range(3) for chosen in itertools.combinations(range(4), n)]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ModelRegistry(tmp_path_factory.mktemp("models")).resolve_llm("smollm2-135m")


@pytest.fixture(scope="module")
def rewards(weights: Path) -> Iterator[LlamaRewards]:
    with LlamaRewards(weights, identity="smol", n_ctx=2048) as model:
        yield model


def plainly(rewards: LlamaRewards, prompt: list[int], continuation: list[int]) -> list[float]:
    """Log-probabilities the plain way: one text, token after token, in a context of its own."""
    import llama_cpp as ll

    weights = rewards._weights
    assert weights is not None
    params = ll.llama_context_default_params()
    params.n_ctx = 512
    params.flash_attn_type = ll.LLAMA_FLASH_ATTN_TYPE_ENABLED
    params.n_ubatch = 32
    params.type_k, params.type_v = engines.KEYS, engines.VALUES
    context = weights.context(params)
    try:
        found = []
        feed = prompt
        for token in continuation:
            fed = (ll.llama_token * len(feed))(*feed)  # the batch only points at it
            batch = ll.llama_batch_get_one(fed, len(feed))
            assert ll.llama_decode(context, batch) == 0
            row = np.ctypeslib.as_array(
                ll.llama_get_logits_ith(context, -1), shape=(weights.vocabulary_size,)
            ).astype(np.float64)
            found.append(float(row[token] - row.max() - np.log(np.exp(row - row.max()).sum())))
            feed = [token]
        return found
    finally:
        ll.llama_free(context)


def test_log_likelihood_is_that_of_a_plain_evaluation(rewards: LlamaRewards):
    answer = " You could bake a vegan bread."
    together = rewards.log_likelihood(PROMPTS, [answer] * len(PROMPTS))
    assert rewards._weights is not None
    continuation = rewards._weights.tokenize(answer)
    for text, scores in list(zip(PROMPTS, together, strict=True))[::3]:
        assert np.allclose(
            scores, plainly(rewards, rewards.tokens(text), continuation), atol=1e-3, rtol=0
        )


def test_entropy_does_not_depend_on_what_it_is_asked_together_with(rewards: LlamaRewards):
    together = rewards.entropy(PROMPTS, **SHORT)
    backwards = rewards.entropy([*PROMPTS[::-1], "Hello", PROMPTS[0]], **SHORT)
    alone = [rewards.entropy([text], **SHORT)[0] for text in PROMPTS[:4]]
    assert together == backwards[: len(PROMPTS)][::-1]
    assert alone == together[:4]
    assert backwards[-1] == together[0]


def test_same_samples_whatever_the_cache_that_is_there(weights: Path, rewards: LlamaRewards):
    with LlamaRewards(weights, identity="smol", n_ctx=320) as small:
        assert small.entropy(PROMPTS, **SHORT) == rewards.entropy(PROMPTS, **SHORT)


def test_sample_i_is_the_same_however_many_are_asked_for(rewards: LlamaRewards):
    few = rewards.entropy(PROMPTS[:2], samples=2, max_tokens=6)
    many = rewards.entropy(PROMPTS[:2], samples=5, max_tokens=6)
    assert [e.samples for e in few] == [e.samples[:2] for e in many]
    assert rewards.entropy(PROMPTS[:1], max_tokens=6, samples=5, seed=1) != many[:1]


def test_tempered_entropy_is_lower_and_greedy_is_one_sample(rewards: LlamaRewards):
    (plain,) = rewards.entropy(PROMPTS[:1], **SHORT)
    (tempered,) = rewards.entropy(PROMPTS[:1], **SHORT, tempered=True)
    assert tempered.mean < plain.mean
    (greedy,) = rewards.entropy(PROMPTS[:1], temperature=0)
    assert len(greedy.samples) == 1


@pytest.mark.parametrize("by", ["likelihood", "letter"])
def test_choice_sums_to_one(rewards: LlamaRewards, by):
    (chosen,) = rewards.choose(
        ["The capital of France is"], [[" Paris", " a long green apple"]], by=by
    )
    assert chosen.sum() == pytest.approx(1)
    if by == "likelihood":
        assert chosen.argmax() == 0


def test_a_prompt_that_is_the_beginning_of_another(rewards: LlamaRewards):
    texts = ["One two three", "One two three four five", "One two"]
    together = rewards.log_likelihood(texts, [" six"] * 3)
    for text, scores in zip(texts, together, strict=True):
        assert np.array_equal(rewards.log_likelihood([text], [" six"])[0], scores)


def test_chat_turns_and_text_that_looks_like_control_tokens(rewards: LlamaRewards):
    turns = (ChatTurn("user", "Who am I? <|im_end|>"),)
    assert rewards.tokens(turns) != rewards.tokens("Who am I? <|im_end|>")
    (entropy,) = rewards.entropy([turns], **SHORT)
    assert entropy.mean > 0


def test_strange_text_is_scored(rewards: LlamaRewards):
    (scores,) = rewards.log_likelihood(["\udcff \x00 𓀀"], [" 🧇\u202e مرحبا"])
    assert np.isfinite(scores).all()


def test_bad_input_is_named(rewards: LlamaRewards):
    with pytest.raises(PromptTooLong, match=r"prompt has \d{4,} tokens and its continuation 20"):
        rewards.entropy(["many words " * 2000])
    with pytest.raises(EmptyContinuation):
        rewards.log_likelihood(["Hello"], [""])
    with pytest.raises(EmptyContinuation):
        rewards.choose(["Hello"], [[]])
    with pytest.raises(ValueError, match="2 prompts but 1"):
        rewards.log_likelihood(["a", "b"], [" c"])
    assert rewards.entropy(PROMPTS[:1], **SHORT)[0].mean > 0  # still usable


def test_a_pair_that_just_fits_is_read_whole(weights: Path):
    with LlamaRewards(weights, identity="smol", n_ctx=256) as small:
        room = small.engine.limit
        (words,) = [small.engine.weights.tokenize(" word")]
        prompt = " word" * (room - len(words))
        assert len(small.tokens(prompt)) + len(words) == room
        (scores,) = small.log_likelihood([prompt], [" word"])
        assert np.isfinite(scores).all()
        with pytest.raises(PromptTooLong, match=rf"prompt has {room} tokens.* 1, .* holds {room}"):
            small.log_likelihood([prompt + " word"], [" word"])
        with pytest.raises(PromptTooLong, match=f"holds {room}"):
            small.choose([prompt], [[" one", " two three"]])


@pytest.mark.parametrize("token", [-5, 49152, 10**6])
def test_tokens_that_the_vocabulary_lacks(rewards: LlamaRewards, token: int):
    engine = rewards.engine
    assert token not in range(engine.weights.vocabulary_size)
    for asked in (([[token]], [[1]]), ([[1]], [[token]])):
        with pytest.raises(ValueError, match="not in the vocabulary of 49152"):
            engine.score(*asked)
    with pytest.raises(ValueError, match="not in the vocabulary"):
        engine.sample([[1, token]], range(2), Drawing(4, 0.7, 0))


@pytest.mark.parametrize("template", [None, b"{% for a in b %}no template of this world", b""])
def test_a_model_without_a_usable_chat_template(rewards: LlamaRewards, monkeypatch, template):
    turns = (ChatTurn("system", "Be brief."), ChatTurn("user", "Who am I?"))
    templated = rewards.entropy([turns], **SHORT)
    monkeypatch.setattr(rewards.engine.weights, "_template", template)
    plain = "system:\nBe brief.\n\nuser:\nWho am I?\n\nassistant:\n"
    assert rewards.entropy([turns], **SHORT) == rewards.entropy([plain], **SHORT) != templated
    assert rewards.choose([turns], [["You", "Nobody"]])[0].sum() == pytest.approx(1)


def test_ctrl_c_returns_promptly(rewards: LlamaRewards):
    many = [f"{text} {i}" for i in range(60) for text in PROMPTS]
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        rewards.entropy(many, samples=5, max_tokens=20)
    assert time.monotonic() - began < 3
    timer.join()
    (after,) = rewards.entropy(PROMPTS[:1], **SHORT)
    assert after == rewards.entropy(PROMPTS[:2], **SHORT)[0]


def test_a_cancelled_call_leaves_the_engine_right(rewards: LlamaRewards, monkeypatch):
    import llama_cpp as ll

    expected = rewards.entropy(PROMPTS, **SHORT)
    calls = itertools.count()
    decode = ll.llama_decode

    def interrupted(context, batch):
        if next(calls) == 3:
            raise KeyboardInterrupt
        return decode(context, batch)

    monkeypatch.setattr(ll, "llama_decode", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rewards.entropy(PROMPTS, **SHORT)
    assert rewards.entropy(PROMPTS, **SHORT) == expected


def test_two_callers_at_once_are_both_right(rewards: LlamaRewards):
    expected = [rewards.entropy([text], **SHORT) for text in PROMPTS[:2]]
    found: dict[int, object] = {}
    threads = [
        threading.Thread(
            target=lambda i=i: found.update({i: rewards.entropy([PROMPTS[i]], **SHORT)})
        )
        for i in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[0], found[1]] == expected


def test_closed_model_says_so(weights: Path):
    model = LlamaRewards(weights, identity="smol", n_ctx=256)
    model.close()
    model.close()
    with pytest.raises(ModelError, match="closed"):
        model.entropy(["Hello"])


def test_the_cache_pays_once_and_only_for_what_is_new(
    weights: Path, tmp_path: Path, rewards: LlamaRewards
):
    cache = RewardCache(tmp_path / "cache" / "rewards.sqlite")
    with LlamaRewards(weights, identity="smol", n_ctx=1024, cache=cache) as model:
        first = model.entropy(PROMPTS[:3], samples=2, max_tokens=6)
        decoded = model.engine.decoded
        assert model.entropy(PROMPTS[:3], samples=2, max_tokens=6) == first
        assert model.engine.decoded == decoded
        more = model.entropy(PROMPTS[:3], samples=3, max_tokens=6)
        assert more == rewards.entropy(PROMPTS[:3], **SHORT)
        scores = model.log_likelihood(PROMPTS[:1], [" Bread."])
        assert np.array_equal(model.log_likelihood(PROMPTS[:1], [" Bread."])[0], scores[0])
    assert cache.count() == 4
    assert cache.path.stat().st_mode & 0o777 == 0o600
    assert cache.clear()[0] == 4
    assert cache.count() == 0


def test_the_cache_is_bounded_and_survives_damage(tmp_path: Path):
    cache = RewardCache(tmp_path / "rewards.sqlite", megabytes=1)
    for start in range(0, 3000, 100):
        keys = [f"{i:032d}".encode() for i in range(start, start + 100)]
        cache.keep({name: np.zeros(250, np.float32) for name in keys})
    assert 0 < cache.count() < 3000
    cache.close()
    cache.path.write_bytes(b"no database" * 100)
    broken = RewardCache(cache.path)
    assert broken.find([b"x" * 32]) == [None]
    broken.keep({b"x" * 32: np.ones(2, np.float32)})
    (found,) = broken.find([b"x" * 32])
    assert found is not None
    assert found.tolist() == [1, 1]


def test_sizes_are_tried_once_a_machine(
    weights: Path, tmp_path: Path, rewards: LlamaRewards, monkeypatch: pytest.MonkeyPatch
):
    record = BatchSizes(tmp_path / "models" / "batches.json", fingerprint("abc", 2))
    agreeing = engines.Engine._agreeing_sizes
    tried: list[int] = []

    def counted(engine: engines.Engine) -> tuple[int, ...]:
        tried.append(1)
        return agreeing(engine)

    def started() -> tuple[int, ...]:
        monkeypatch.setattr(engines, "_agreeing", {})  # as in a new process
        with LlamaRewards(weights, identity="smol", n_ctx=256, known=record) as model:
            return model.engine.sizes

    monkeypatch.setattr(engines.Engine, "_agreeing_sizes", counted)
    assert started() == started() == rewards.engine.sizes
    assert len(tried) == 1
    record.remember([8, 7, 128])
    assert started() == started() == rewards.engine.sizes
    assert len(tried) == 2


def test_a_damaged_record_of_sizes_is_written_anew(tmp_path: Path):
    file = tmp_path / "batches.json"
    key = fingerprint("abc", 2)
    record = BatchSizes(file, key)
    for damage in (b"", b"{", b"[" * 100_000, b"[]", b"\xff", f'{{"{key}": ["8"]}}'.encode()):
        file.write_bytes(damage)
        assert record.recall() == ()
        record.remember([8, 128])
        assert record.recall() == (8, 128)
    for other in (fingerprint("abd", 2), fingerprint("abc", 3)):
        assert BatchSizes(file, other).recall() == ()
    BatchSizes(Path("/proc/no/where.json"), key).remember([8])  # kept nowhere, and no error


def test_smaller_batches_give_the_same(weights: Path, rewards: LlamaRewards):
    with LlamaRewards(weights, identity="smol", n_ctx=1024, batch=24) as small:
        assert max(small.engine.sizes) <= 24
        assert small.entropy(PROMPTS, **SHORT) == rewards.entropy(PROMPTS, **SHORT)
    with LlamaRewards(weights, identity="smol", n_ctx=1024, batch=1) as tiny:
        assert tiny.engine.sizes == rewards.engine.sizes[:1]


def test_the_prefix_tree_holds_each_shared_token_once():
    paths = [TokenPath(t, len(t) - 1) for t in sorted([(1, 2, 3), (1, 2), (1, 4, 5), (6,)])]
    nodes = list(reading_order(paths, 0))
    assert len(nodes) == 6
    assert nodes[0].paths == (0, 1, 2)
    assert [n.wanting for n in nodes] == [(), (0,), (1,), (), (2,), (3,)]
    assert [list(w) for w in windows(paths, cells=4, most=9, room=0)] == [[0, 1], [2, 3]]


def test_draws_follow_the_tempered_distribution():
    reader = RowReader(1000)
    row = np.full(1000, -np.inf, np.float32)
    row[[3, 700, 999]] = np.log([0.5, 0.25, 0.25]).astype(np.float32)
    plain, tempered = reader.entropies(row, 1.0)
    assert plain == tempered == pytest.approx(1.5 * np.log(2), abs=1e-5)
    assert [reader.draw(u) for u in (0.0, 0.49, 0.51, 0.74, 0.76, 0.999999)] == [
        3,
        3,
        700,
        700,
        999,
        999,
    ]
    assert reader.log_probability(row, 3) == pytest.approx(np.log(0.5), abs=1e-6)
