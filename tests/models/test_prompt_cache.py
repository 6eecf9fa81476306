"""Fixed parts of prompts on disk: the same answers of the real 135M, and nothing that was told."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from agent.answering import answer
from agent.answering.notes.prompt import build_turns
from agent.applications.forms.candidates import copy_prompts
from agent.extraction.triples import read
from agent.learning import qa_generation
from agent.models.adapters.llama.language_model import LlamaModel
from agent.models.adapters.llama.prefixes import LEAST, KeptPrefixes
from agent.models.fixed_turns import count_fixed, fixed
from agent.models.prompt_cache import FOLDER, PromptCache
from agent.models.readers import note_reader, second_reader
from agent.models.registry import ModelRegistry
from agent.ports import ChatTurn
from tests.conftest import NOW, Result
from tests.support.workers import SMALL, small_model

BEGIN = fixed(
    "You answer in one short sentence with the exact names, dates and numbers.",
    [("What is the capital of Portugal?", "The capital of Portugal is Lisbon.")],
)
OTHER = fixed("You translate what is said into French, and write nothing but the translation.")
SECRET = "Zylphorine keeps 7319 marmots in Quaxholm"
LAYER = 12


def ask(text: str, begin: tuple[ChatTurn, ...] = BEGIN) -> tuple[ChatTurn, ...]:
    return (*begin, ChatTurn("user", text))


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ModelRegistry(tmp_path_factory.mktemp("models")).resolve_llm(SMALL)


@pytest.fixture
def cache(tmp_path: Path) -> PromptCache:
    return PromptCache(tmp_path / FOLDER)


@pytest.fixture
def told() -> list[str]:
    """What was said of files that could not be used."""
    return []


@pytest.fixture
def opened(weights: Path, cache: PromptCache, told: list[str]):
    @contextmanager
    def opened(*, flash: bool = True, slots: int = 4) -> Iterator[LlamaModel]:
        """The model as a process that was just started has it."""
        kept = KeptPrefixes(cache, f"test, flash {flash}", told.append)
        with LlamaModel(
            weights, sha256="", n_ctx=512, n_threads=2, flash=flash, slots=slots, kept=kept
        ) as model:
            yield model

    return opened


def files(cache: PromptCache) -> dict[str, bytes]:
    if not cache.folder.exists():
        return {}
    return {path.name: path.read_bytes() for path in cache.folder.iterdir()}


def read_lengths(model: LlamaModel, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tokens are read at a time from now on."""
    lengths: list[int] = []
    extend = model.extend

    def counting(slot, tokens):
        lengths.append(len(tokens))
        extend(slot, tokens)

    monkeypatch.setattr(model, "extend", counting)
    return lengths


def said(model: LlamaModel, text: str, begin: tuple[ChatTurn, ...] = BEGIN) -> tuple[str, float]:
    """An answer and its log-probability."""
    scores: list[float] = []
    turns = ask(text, begin)
    answer = model.chat(turns, max_tokens=6, on_scores=scores.extend, fixed=count_fixed(turns))
    return answer, sum(scores)


def logits(model: LlamaModel) -> np.ndarray:
    """Of the token that comes after all that was read."""
    import llama_cpp as ll

    row = ll.llama_get_logits_ith(model._context, -1)
    return np.ctypeslib.as_array(row, shape=(model._weights.vocabulary_size,)).copy()


# ---- what is fixed --------------------------------------------------------------------------


def test_only_turns_that_were_noted_are_fixed():
    assert count_fixed(ask("Where is Faro?")) == 3
    assert count_fixed(ask("Where is Faro?", OTHER)) == 1
    assert count_fixed(BEGIN) == 0, "the last turn is what is asked"
    assert count_fixed([ChatTurn("system", BEGIN[0].content + " "), *BEGIN[1:]]) == 0
    assert count_fixed([BEGIN[0], ChatTurn("user", SECRET), *BEGIN[2:]]) == 0
    assert count_fixed([]) == 0


@pytest.mark.parametrize("question", ["Where do I live?", "我住在哪里？", "Wo wohne ich zurzeit?"])
def test_all_but_the_last_turn_of_an_answer_is_fixed(question: str):
    turns = build_turns(question, [], NOW)
    assert count_fixed(turns) == len(turns) - 1 > 0


def test_all_but_the_last_turn_of_other_tasks_is_fixed():
    for turns in (
        read.build_turns([SECRET]),
        answer.build_turns(SECRET, [], NOW),
        copy_prompts.build_turns(SECRET, []),
        qa_generation.writing_turns([], NOW),
        note_reader.about_notes(SECRET, [(NOW, SECRET)]),
        (*second_reader.BEGIN, ChatTurn("user", SECRET)),
    ):
        assert count_fixed(turns) == len(turns) - 1 > 0


# ---- the same answers -----------------------------------------------------------------------


@pytest.mark.parametrize("flash", [True, False])
def test_what_is_loaded_answers_as_what_was_read(opened, cache, told, monkeypatch, flash: bool):
    with opened(flash=flash) as model:
        first = said(model, "Where is Faro?")
        begin = model._weights.beginning(ask(""), 3)
        row = logits(model)
    assert cache.count() == 1
    with opened(flash=flash) as model:
        lengths = read_lengths(model, monkeypatch)
        again = said(model, "Where is Faro?")
        loaded = logits(model)
    assert len(begin) > LEAST
    assert max(lengths) < len(begin) / 2, "the fixed part was not read"
    assert again[0] == first[0] != ""
    assert again[1] == pytest.approx(first[1], abs=1e-4)
    assert np.abs(loaded - row).max() < 1e-3
    assert told == []


def test_hidden_states_are_the_same_from_disk(opened, cache, told):
    texts = ("The soup was cold.", "The train was late again on Monday.")

    def seen(model: LlamaModel) -> tuple[np.ndarray, ...]:
        lines = ask("".join(f"{text}\n" for text in texts), OTHER)
        return (
            model.states([ask(text) for text in texts], layer=LAYER, fixed=3),
            model.states([ask(texts[0])], layer=LAYER, fixed=3),
            model.line_states(lines, layer=LAYER, fixed=1),
        )

    with opened() as model:
        first = seen(model)
    kept = files(cache)
    with opened() as model:
        again = seen(model)
    assert len(kept) == 1, "what is shorter than LEAST is read"
    assert files(cache) == kept
    for one, other in zip(first, again, strict=True):
        assert np.abs(one - other).max() < 1e-4 * np.abs(one).max()
    assert told == []


def test_states_of_another_layer_and_those_of_the_chat_are_apart(opened, cache):
    with opened() as model:
        said(model, "Where is Faro?")
        model.states([ask("Where?")], layer=LAYER, fixed=3)
        model.states([ask("Where?")], layer=LAYER + 1, fixed=3)
    assert cache.count() == 3


def test_a_task_whose_slot_was_taken_is_loaded_again(opened, cache, monkeypatch):
    longer = fixed("You are a patient teacher. " + "Be kind and be brief. " * 10)
    with opened(slots=1) as model:
        said(model, "Hello", longer)
        first = said(model, "Where is Faro?")
        lengths = read_lengths(model, monkeypatch)
        said(model, "Hello", longer)
        assert said(model, "Where is Faro?")[0] == first[0]
    assert max(lengths) < 20
    assert cache.count() == 2


def test_an_exact_model_keeps_nothing_on_disk(weights, cache):
    kept = KeptPrefixes(cache, "test")
    with LlamaModel(weights, sha256="", n_ctx=256, slots=1, exact=True, kept=kept) as model:
        said(model, "Where is Faro?")
    assert files(cache) == {}


# ---- nothing that was told ------------------------------------------------------------------


def test_a_file_does_not_depend_on_what_was_told(opened, cache):
    def used(text: str) -> dict[str, bytes]:
        cache.clear()
        with opened() as model:
            said(model, text)
            said(model, f"{text}, and why?")
            model.states([ask(text)], layer=LAYER, fixed=3)
            tokens = np.array(model._weights.tokenize(text), np.int32).tobytes()
        found = files(cache)
        for data in found.values():
            assert text.encode() not in data
            assert tokens[:12] not in data
        return found

    assert used(SECRET) == used("Hello there") != {}


def test_what_is_not_fixed_is_never_kept(opened, cache):
    with opened() as model:
        for _ in range(2):
            model.chat([ChatTurn("system", SECRET * 5), ChatTurn("user", SECRET)], max_tokens=1)
        turns = ask(SECRET)
        model.chat([*turns, ChatTurn("assistant", SECRET), ChatTurn("user", "Why?")], max_tokens=1)
        model.states([ask(SECRET)] * 2, layer=LAYER)
        model.line_states(ask(SECRET), layer=LAYER)
    assert files(cache) == {}


# ---- files that cannot be used --------------------------------------------------------------


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


@pytest.mark.parametrize(
    "damage", [cut, flipped, lambda data: b"", lambda data: b"mlp0" + data[4:]]
)
def test_a_damaged_file_is_made_anew(opened, cache, told, damage):
    with opened() as model:
        first = said(model, "Where is Faro?")
    ((name, sound),) = files(cache).items()
    (cache.folder / name).write_bytes(damage(sound))
    with opened() as model:
        assert said(model, "Where is Faro?")[0] == first[0]
    assert told == [f"{cache.folder / name} is damaged; it is made anew"]
    assert files(cache) == {name: sound}


def test_a_state_of_something_else_is_made_anew(opened, cache, told):
    with opened() as model:
        first = said(model, "Where is Faro?")
    ((name, sound),) = files(cache).items()
    state = cache.find(name)
    assert state is not None
    for wrong in (b"no state at all", bytes(state[: len(state) // 2])):
        cache.keep(name, wrong)
        with opened() as model:
            assert said(model, "Where is Faro?")[0] == first[0]
        assert files(cache)[name] == sound
    assert told == [f"llama.cpp does not take the state {name}; it is made anew"] * 2


def test_a_file_under_another_name_is_not_taken(cache):
    cache.keep("a", b"content")
    (cache.folder / "a").rename(cache.folder / "b")
    with pytest.raises(ValueError, match="damaged"):
        cache.find("b")


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(opened, cache, told):
    cache.folder.write_text("a file where the folder should be")
    with opened() as model:
        assert said(model, "Where is Faro?")[0]
    assert told == [f"{cache.folder} cannot be written, or is too small"]
    assert (cache.count(), cache.size(), cache.clear()) == (0, 0, (0, 0))


# ---- the folder -----------------------------------------------------------------------------


def test_files_are_for_their_owner_alone(cache):
    assert cache.keep("a", b"content")
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    assert (cache.folder / "a").stat().st_mode & 0o777 == 0o600
    assert bytes(cache.find("a") or b"") == b"content"


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path):
    cache = PromptCache(tmp_path / FOLDER, limit=3500)
    for age, name in enumerate("abc"):
        assert cache.keep(name, bytes(1000))
        os.utime(cache.folder / name, (age, age))
    assert cache.find("a") is not None
    (cache.folder / ".left by a killed process").write_bytes(bytes(100))
    os.utime(cache.folder / ".left by a killed process", (0, 0))
    assert cache.count() == 3
    assert cache.keep("d", bytes(1000))
    assert sorted(files(cache)) == ["a", "c", "d"]
    assert cache.size() <= cache.limit
    assert not cache.keep("e", bytes(3500)), "larger than the folder may be"
    assert sorted(files(cache)) == ["a", "c", "d"]


def test_a_failed_write_leaves_nothing(cache, monkeypatch):
    cache.keep("a", b"content")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not cache.keep("b", b"content")
    assert sorted(files(cache)) == ["a"]


# ---- in a worker ----------------------------------------------------------------------------


def test_the_next_worker_loads_what_this_one_read(tmp_path: Path, caplog):
    caplog.set_level(logging.DEBUG, logger="memlane.models")
    model = small_model(tmp_path)
    folder = tmp_path / FOLDER
    try:
        first = model.chat(ask("Where is Faro?"), max_tokens=6)
        states = model.states([ask("Where is Faro?")], layer=LAYER)
        kept = list(folder.iterdir())
        assert len(kept) == 2
        model.close()
        assert model.chat(ask("Where is Faro?"), max_tokens=6) == first
        again = model.states([ask("Where is Faro?")], layer=LAYER)
        assert np.abs(states - again).max() < 1e-3
        assert caplog.text.count("made anew") == 0
        model.close()
        for path in kept:
            path.write_bytes(b"damaged")
        assert model.chat(ask("Where is Faro?"), max_tokens=6) == first
        assert caplog.text.count("made anew") == 1
        assert sorted(path.stat().st_size > 1_000_000 for path in kept) == [False, True]
    finally:
        model.close()


def test_nothing_told_is_in_the_folder_after_a_day_of_use(
    memlane: Callable[..., Result], tmp_path: Path, monkeypatch
):
    monkeypatch.setenv("MEMLANE_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("MEMLANE_LLM", SMALL)
    folder = tmp_path / "models" / FOLDER
    assert memlane("say", f"so {SECRET}, would you believe it").code == 0
    assert memlane("ask", "What does Zylphorine keep?").code == 0
    kept = {path: path.read_bytes() for path in folder.iterdir()}
    assert kept
    words = [word.encode() for word in SECRET.split() if len(word) > 3]
    for path, data in kept.items():
        assert not any(word in data or word.lower() in data for word in words)
        assert path.stat().st_mode & 0o777 == 0o600
    memlane("forget", "m1", "--yes")
    assert {path: path.read_bytes() for path in folder.iterdir()} == kept
