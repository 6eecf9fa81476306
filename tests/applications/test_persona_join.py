"""Joining profiles: by the consent of both homes, at every moment, and nothing of it stays."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.applications.personas.join import Side, join, leave, partners
from agent.applications.personas.predict_option import predict
from agent.config import load_config
from agent.io.transfer.backup import backup, restore
from agent.memory.vectors.waiting import ensure_vectors
from agent.ports import Embedder, Entropy, Prompt
from agent.session.session import Session, open_session
from store.database.connection import DATABASE_NAME, is_open_here
from store.errors import HomeUnavailable, InvalidInput, StoreError, UnknownId
from store.graph import MemoryGraph
from store.journal import Insert
from store.tables.side_tables.shared_homes import looked_into
from store.tables.side_tables.sharing_consents import KEY_NAME, identity_of
from store.types import Draft
from tests.conftest import NOW, Result, ScriptedModel
from tests.support.forgetting import bytes_of

ANN = ("I like strict gun laws.", "I prefer trains to cars.", "I love quiet evenings at home.")
BEN = ("I dislike the Zorblatt tax.", "I enjoy marching bands.", "I prefer trams to planes.")
QUESTION = "What do you think of the Zorblatt tax?"
OPTIONS = ("I like it", "I dislike it")


class Overheard:
    """A reward model that likes every option the same, and keeps what it was shown."""

    identity = "overheard"

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.meanwhile: Callable[[], object] = lambda: None

    def choose(
        self,
        prompts: Sequence[Prompt],
        options: Sequence[Sequence[str]],
        *,
        by: Literal["likelihood", "letter"] = "likelihood",
    ) -> list[NDArray[np.float64]]:
        self.prompts += [str(prompt) for prompt in prompts]
        self.meanwhile()
        return [np.full(len(given), 1 / len(given)) for given in options]

    def entropy(
        self,
        prompts: Sequence[Prompt],
        *,
        samples: int = 5,
        max_tokens: int = 20,
        temperature: float = 0.7,
        seed: int = 0,
        tempered: bool = False,
    ) -> list[Entropy]:
        raise AssertionError("nobody asks for entropy here")

    def log_likelihood(
        self, prompts: Sequence[Prompt], continuations: Sequence[str]
    ) -> list[NDArray[np.float32]]:
        raise AssertionError("nobody asks for likelihoods here")


def make_home(home: Path, embedder: Embedder, *views: str) -> None:
    with MemoryGraph.open(home) as graph:
        facts = [Insert(Draft("My PIN at Ostrava bank is 7391.", "attribute.identity", NOW))]
        told = [Insert(Draft(text, "preference.other", NOW)) for text in views]
        graph.apply([*told, *facts], at=NOW)
        ensure_vectors(graph, embedder)


@pytest.fixture
def homes(tmp_path: Path, embedder: Embedder) -> tuple[Path, Path]:
    ann, ben = tmp_path / "ann", tmp_path / "ben"
    make_home(ann, embedder, *ANN)
    make_home(ben, embedder, *BEN)
    return ann, ben


@pytest.fixture
def opened(homes: tuple[Path, Path], embedder: Embedder) -> Iterator[tuple[Session, Session]]:
    """Ann's and Ben's sessions, each with a model that keeps what it was shown."""

    def session_of(home: Path) -> Session:
        config = replace(load_config(now=NOW), home=home, join_share=50)
        return open_session(config, llm=ScriptedModel(), embedder=embedder, rewards=Overheard())

    with session_of(homes[0]) as ann, session_of(homes[1]) as ben:
        yield ann, ben


def agree(opened: tuple[Session, Session]) -> None:
    ann, ben = opened
    join(ann.graph, ben.config.home, NOW)
    join(ben.graph, ann.config.home, NOW)


def crossed(session: Session, *foreign: str) -> bool:
    """Whether a question put to the session brings anything of the others' words to its model."""
    heard = session.rewards
    assert isinstance(heard, Overheard)
    heard.prompts.clear()
    found = predict(session, QUESTION, OPTIONS)
    seen = any(text in prompt for prompt in heard.prompts for text in foreign)
    assert seen == bool(found.joined)
    return seen


# ---- consent ------------------------------------------------------------------------------


def test_without_consent_nothing_crosses_in_either_direction(opened: tuple[Session, Session]):
    ann, ben = opened
    assert not crossed(ann, *BEN) and not crossed(ben, *ANN)


@pytest.mark.parametrize("who", [0, 1])
def test_one_sided_consent_lets_nothing_cross_either_way(opened: tuple[Session, Session], who: int):
    one, other = opened[who], opened[1 - who]
    assert join(one.graph, other.config.home, NOW).side is Side.WAITING
    assert not crossed(opened[0], *BEN) and not crossed(opened[1], *ANN)


def test_with_both_consents_views_cross_and_nothing_else(opened: tuple[Session, Session]):
    agree(opened)
    ann, ben = opened
    assert crossed(ann, *BEN) and crossed(ben, *ANN)
    assert isinstance(ann.rewards, Overheard)
    assert "7391" not in "".join(ann.rewards.prompts)
    assert partners(ann.graph)[0].side is Side.JOINED


@pytest.mark.parametrize("who", [0, 1])
def test_a_withdrawn_consent_ends_it_for_both(opened: tuple[Session, Session], who: int):
    agree(opened)
    leave(opened[who].graph, opened[1 - who].config.home, NOW)
    assert not crossed(opened[0], *BEN) and not crossed(opened[1], *ANN)
    assert partners(opened[who].graph)[0].side is Side.LEFT
    assert partners(opened[1 - who].graph)[0].side is Side.WAITING
    with pytest.raises(UnknownId, match="persona join"):
        leave(opened[who].graph, opened[1 - who].config.home, NOW)


def test_consent_withdrawn_in_the_middle_of_a_query_counts(opened: tuple[Session, Session]):
    agree(opened)
    ann, ben = opened
    assert isinstance(ann.rewards, Overheard)
    said: list[object] = []

    def withdraw() -> None:
        if not said:
            said.append(leave(ben.graph, ann.config.home, NOW))

    ann.rewards.meanwhile = withdraw
    found = predict(ann, QUESTION, OPTIONS)
    assert said and found.joined == 0
    assert not any(text in ann.rewards.prompts[-1] for text in BEN)


def test_consent_can_be_given_again(opened: tuple[Session, Session]):
    agree(opened)
    leave(opened[0].graph, opened[1].config.home, NOW)
    join(opened[0].graph, opened[1].config.home, NOW)
    assert crossed(opened[0], *BEN)


# ---- signed, and not to be carried off ----------------------------------------------------


def test_a_consent_that_the_homes_key_did_not_sign_is_none(opened: tuple[Session, Session]):
    ann, ben = opened
    join(ann.graph, ben.config.home, NOW)
    row = ann.graph._rows.query("SELECT * FROM persona_consents")[0]
    ben.graph.consents.agree(Path("/nowhere"), None, at=NOW)  # so that Ben has a key
    with ben.graph.writing():
        ben.graph._rows.execute(
            """INSERT INTO persona_consents (home, peer, mine, at, withdrawn, signature)
               VALUES (?, ?, ?, ?, NULL, ?)""",
            (str(ann.config.home.resolve()), identity_of(ann.config.home),
             identity_of(ben.config.home), row["at"], row["signature"]),
        )  # fmt: skip
    assert not crossed(ann, *BEN) and not crossed(ben, *ANN)


def test_a_consent_ends_with_the_key_of_its_home(opened: tuple[Session, Session]):
    agree(opened)
    (opened[1].config.home / KEY_NAME).unlink()
    assert not crossed(opened[0], *BEN) and not crossed(opened[1], *ANN)


def test_an_older_copy_of_the_database_brings_no_consent_back(
    opened: tuple[Session, Session], tmp_path: Path
):
    agree(opened)
    ann, ben = opened
    saved = tmp_path / "saved.zip"
    backup(ben.config.home, saved, NOW)
    leave(ben.graph, ann.config.home, NOW)
    restore(ben.config.home, saved, NOW)
    assert not crossed(ann, *BEN) and not crossed(ben, *ANN)


def test_a_withdrawal_leaves_other_consents_alone(
    opened: tuple[Session, Session], embedder: Embedder, tmp_path: Path
):
    agree(opened)
    ann, _ = opened
    make_home(tmp_path / "carl", embedder, "I enjoy brass bands.")
    with MemoryGraph.open(tmp_path / "carl") as carl:
        join(carl, ann.config.home, NOW)
    join(ann.graph, tmp_path / "carl", NOW)
    leave(ann.graph, tmp_path / "carl", NOW)
    assert crossed(ann, *BEN)


def test_a_home_copied_elsewhere_takes_no_consent_along(
    opened: tuple[Session, Session], embedder: Embedder, tmp_path: Path
):
    agree(opened)
    moved = tmp_path / "moved"
    shutil.copytree(opened[0].config.home, moved)
    config = replace(load_config(now=NOW), home=moved)
    with open_session(
        config, llm=ScriptedModel(), embedder=embedder, rewards=Overheard()
    ) as session:
        assert not crossed(session, *BEN)
        assert partners(session.graph) == ()


def test_another_home_in_the_same_folder_is_not_meant(
    opened: tuple[Session, Session], embedder: Embedder, tmp_path: Path
):
    agree(opened)
    ann, ben = opened
    assert crossed(ann, *BEN)
    place, other = ben.config.home, tmp_path / "eve"
    make_home(other, embedder, *BEN)
    ben.graph.close()
    shutil.rmtree(place)
    shutil.copytree(other, place)
    with MemoryGraph.open(place) as eve:
        join(eve, ann.config.home, NOW)
        assert not crossed(ann, *BEN)


# ---- who may be joined --------------------------------------------------------------------


def test_the_same_person_twice_is_refused(
    opened: tuple[Session, Session], tmp_path: Path, embedder: Embedder
):
    ann, ben = opened
    with pytest.raises(InvalidInput, match="this home itself"):
        join(ann.graph, ann.config.home, NOW)
    link = tmp_path / "link"
    link.symlink_to(ann.config.home)
    with pytest.raises(InvalidInput, match="this home itself"):
        join(ann.graph, link, NOW)
    agree(opened)
    copy = tmp_path / "copy"
    shutil.copytree(ann.config.home, copy)
    with pytest.raises(InvalidInput, match="same person"):
        join(ann.graph, copy, NOW)
    again = tmp_path / "ben-again"
    shutil.copytree(ben.config.home, again)
    with pytest.raises(InvalidInput, match="joined already"):
        join(ann.graph, again, NOW)


def test_a_home_that_says_what_another_says_is_read_once(
    opened: tuple[Session, Session], tmp_path: Path, embedder: Embedder
):
    """As after a restore into a new folder: another key, the same person."""
    ann, _ = opened
    views = tuple(f"I enjoy walking in park number {n}." for n in range(6))
    for name in ("carl", "carl-restored"):
        make_home(tmp_path / name, embedder, *views)
        with MemoryGraph.open(tmp_path / name) as carl:
            join(carl, ann.config.home, NOW)
            join(ann.graph, tmp_path / name, NOW)
    assert predict(ann, "Do you enjoy walking in a park?", ("yes", "no")).joined == 1


def test_a_folder_without_a_home_is_refused(opened: tuple[Session, Session], tmp_path: Path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "nothing"):
        with pytest.raises(HomeUnavailable, match="not a memlane home"):
            join(opened[0].graph, folder, NOW)
    assert not (tmp_path / "nothing").exists() and not any((tmp_path / "empty").iterdir())
    (tmp_path / "junk").mkdir()
    (tmp_path / "junk" / "memlane.db").write_text("no database, but long enough to be read" * 9)
    with pytest.raises(StoreError):
        join(opened[0].graph, tmp_path / "junk", NOW)
    assert partners(opened[0].graph) == ()


def test_a_home_that_went_away_is_left_out(opened: tuple[Session, Session]):
    agree(opened)
    opened[1].graph.close()
    shutil.rmtree(opened[1].config.home)
    assert not crossed(opened[0], *BEN)
    assert partners(opened[0].graph)[0].side is Side.GONE


# ---- nothing stays ------------------------------------------------------------------------


def test_nothing_of_another_home_is_kept_and_nothing_of_it_is_changed(
    opened: tuple[Session, Session],
):
    agree(opened)
    ann, ben = opened
    before = (ben.config.home / "memlane.db").read_bytes()
    assert crossed(ann, *BEN)
    assert (ben.config.home / "memlane.db").read_bytes() == before
    kept = bytes_of(ann.config.home)
    assert not any(text.encode() in kept for text in BEN)
    vectors = ben.graph.vectors.of(ben.embedder.identity)
    assert not any(vectors[f"m{n}"].tobytes() in kept for n in (1, 2, 3))  # m4 is Ann's too


def test_what_is_forgotten_there_crosses_no_more(opened: tuple[Session, Session]):
    agree(opened)
    ann, ben = opened
    assert crossed(ann, BEN[0])
    ben.graph.erase(["m1"], at=NOW)
    heard = ann.rewards
    assert isinstance(heard, Overheard)
    heard.prompts.clear()
    predict(ann, QUESTION, OPTIONS)
    assert not any(BEN[0] in prompt for prompt in heard.prompts)


# ---- predictions --------------------------------------------------------------------------


def test_a_joined_view_moves_a_prediction(opened: tuple[Session, Session]):
    agree(opened)
    alone = predict(
        opened[0], QUESTION, ("I like the Zorblatt tax.", "I dislike the Zorblatt tax.")
    )
    assert alone.joined == 1 and alone.choice == "I dislike the Zorblatt tax."
    assert sum(p for _, p in alone.options) == pytest.approx(1)
    assert set(alone.evidence) <= {"m1", "m2", "m3"}


def test_a_prediction_needs_two_options(opened: tuple[Session, Session]):
    with pytest.raises(InvalidInput, match="--option"):
        predict(opened[0], QUESTION, ["yes", " yes "])


# ---- the command --------------------------------------------------------------------------


def test_the_command_joins_lists_and_leaves(
    homes: tuple[Path, Path], memlane: Callable[..., Result]
):
    ann, ben = (str(home) for home in homes)
    first = memlane("--home", ann, "persona", "join", "--with", ben)
    assert "waiting" in first.out and f"--home '{Path(ben).resolve()}'" in first.out
    done = memlane("--home", ben, "--json", "persona", "join", "--with", ann)
    assert done.json["joined"][0]["side"] == "joined"
    assert memlane("--home", ann, "--json", "persona", "join").json["joined"][0]["side"] == "joined"
    left = memlane("--home", ann, "--json", "persona", "join", "--leave", ben)
    assert left.json["joined"][0]["side"] == "left"
    wrong = memlane("--home", ann, "persona", "join", "--with", f"{ann}/nothing")
    assert wrong.code == 1 and "not a memlane home" in wrong.err and "Traceback" not in wrong.err


def test_a_look_into_a_home_leaves_it_closed(tmp_path: Path):
    MemoryGraph.open(tmp_path / "ben").close()
    with looked_into(tmp_path / "ben"):
        assert is_open_here(tmp_path / "ben" / DATABASE_NAME)
    assert not is_open_here(tmp_path / "ben" / DATABASE_NAME)
