"""The two walks: where they begin, what they see, what they include, and when they stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from policies.base import Question
from policies.scoring.features import (
    Day,
    MemoryFeatures,
    QuestionFeatures,
    answer_fit,
    asks,
    date_fit,
    days_in,
    name_fit,
)
from policies.scoring.question_entities import NameIndex, named_in
from policies.training.mlp import Floats, Mlp
from policies.training.reinforce import LearnedPolicy
from policies.walk import scout, walk
from policies.walk.scout import Scout
from policies.walk.scout_state import STATE, Candidates
from policies.walk.walk import Walk
from store.derived.view import GraphView
from store.errors import InvalidInput
from store.types import Memory, Triple

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
TOLD = (
    ("My uncle is Pedro.", ("me", "uncle", "Pedro")),
    ("Pedro works as a baker.", ("Pedro", "works_as", "baker")),
    ("The phone number of Pedro is 555 0912.", ("Pedro", "phone", "555 0912")),
    ("My aunt lives in Malta.", ("my aunt", "lives_in", "Malta")),
    ("I booked a flight to Zurich.", ("me", "flight_to", "Zurich")),
    ("The SQ318 flight goes to Zurich.", ("SQ318", "destination", "Zurich")),
    ("The gate of SQ318 is C12.", ("SQ318", "gate", "C12")),
    ("I like green tea.", ("me", "likes", "green tea")),
)


def words_of(text: str) -> list[str]:
    return [word.strip(".,?").casefold() for word in text.replace("_", " ").split()]


VOCABULARY = sorted({word for text, _ in TOLD for word in words_of(text)} | {"whose", "called"})


def encode(texts: Sequence[str]) -> np.ndarray:
    """Bags of words: near is what shares words."""
    made = np.array(
        [[float(w in words_of(text)) for w in VOCABULARY] for text in texts], np.float32
    )
    unit: np.ndarray = made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-9)
    return unit


def view_of(told: Sequence[tuple[str, tuple[str, str, str]]] = TOLD, *, edges: bool = True):
    memories = tuple(
        Memory(f"m{n}", text, "Event", "event.life", NOW - timedelta(days=30 - n),
               (Triple(*edge),) if edges else ())
        for n, (text, edge) in enumerate(told)
    )  # fmt: skip
    vectors = encode([text for text, _ in told])
    return GraphView(memories, vectors, frozenset(memory.id for memory in memories))


def ask(text: str) -> Question:
    return Question(text, encode([text])[0], NOW)


def deciding(policy: LearnedPolicy, decide: Callable[[Floats], float]) -> LearnedPolicy:
    """The policy with a network that is told what to think of each state."""

    class Told(Mlp):
        def logits(self, states: Floats) -> Floats:
            liked = np.array([decide(state) for state in states])
            return np.stack([-liked, liked], axis=1)

    network = policy.network
    return policy.with_network(Told(network.inputs, network.hidden, 2, network.flat))


def fresh_walk(activated: int = 3) -> Walk:
    return Walk(Mlp.fresh(3), activated, NameIndex(encode))


def fresh_scout(activated: int = scout.ACTIVATED, budget: int = scout.BUDGET) -> Scout:
    return Scout(Mlp.fresh(len(STATE), scout.HIDDEN), activated, budget)


PHONE = "What is the phone number of my uncle?"

# ---- the question's entity and relation ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "entities", "relation"),
    [
        ("What does Pedro do?", ("Pedro",), "What does Pedro do?"),
        ("Where is the gate of SQ318?", ("SQ318",), "gate"),
        ("Does my aunt like green tea?", ("my aunt", "green tea"), "like"),
        ("Which cities has Kenji seen?", ("Kenji",), "Which cities seen"),
        ("Where do I live?", ("me",), "live"),
    ],
)
def test_entities_of_the_graph_are_found_and_the_other_words_are_the_relation(
    text: str, entities: tuple[str, ...], relation: str
):
    found = named_in(text, view_of())
    assert found.entities == entities
    assert found.relation.casefold() in (relation.casefold(), "cities seen")


def test_entities_are_found_in_text_without_spaces():
    view = view_of([("王婷婷是我的下属。", ("王婷婷", "下属", "我"))])
    assert named_in("王婷婷的生日是哪天?", view).entities == ("王婷婷",)


def test_a_question_of_a_view_without_entities_is_named_by_its_own_names():
    assert named_in("When did Ana move?", view_of(edges=False)).entities == ("Ana",)


# ---- walk ---------------------------------------------------------------------------------------


def test_the_walk_goes_depth_first_from_the_activated_and_on_from_what_it_includes():
    everything = deciding(fresh_walk(activated=1), lambda state: 5.0)
    trace = everything.select(ask(PHONE), view_of()).trace
    assert trace[0].memory == "m2"
    assert trace[0].activated and trace[0].via is None
    # All three share Pedro; the last is reached through the second, not from where it began.
    assert {step.memory for step in trace} == {"m0", "m1", "m2"}
    assert [step.via for step in trace[1:]] == ["m2", trace[1].memory]


def test_a_stopped_branch_is_not_gone_on_with():
    nothing = deciding(fresh_walk(activated=2), lambda state: -5.0)
    selection = nothing.select(ask(PHONE), view_of())
    assert selection.chosen == ()
    assert [step.activated for step in selection.trace] == [True, True]
    assert {step.reason for step in selection.trace} == {"stopped here"}


def test_the_state_is_three_cosines_and_the_trace_shows_it():
    trace = deciding(fresh_walk(), lambda state: 5.0).select(ask(PHONE), view_of()).trace
    for step in trace:
        assert [name for name, _ in step.state] == ["entity", "relation", "memory"]
        assert all(-1.001 <= value <= 1.001 for _, value in step.state)
    first = dict(trace[0].state)
    assert first["relation"] > 0.5  # 'phone number' of the question, 'phone' of the edge
    vector = view_of().vectors[2] @ ask(PHONE).vector
    assert first["memory"] == pytest.approx(float(vector))


def test_a_memory_without_relations_has_only_its_own_cosine():
    states, _ = fresh_walk().lesson(ask(PHONE), view_of(edges=False), frozenset())
    assert not states[:, :2].any()
    assert states[:, 2].max() > 0


def test_without_an_encoder_of_names_the_vectors_of_the_memories_stand_in():
    bare = Walk(Mlp.fresh(3))
    states, _ = bare.lesson(ask("What does Pedro work as?"), view_of(), frozenset({"m1"}))
    assert states[0, 0] > 0.5


def test_a_walk_is_bounded_however_dense_the_graph():
    told = [(f"Pedro fact {n}.", ("Pedro", f"r{n}", f"v{n}")) for n in range(200)]
    everything = deciding(fresh_walk(), lambda state: 5.0)
    assert len(everything.select(ask("Pedro fact"), view_of(told)).trace) <= walk.VISITS


# ---- scout --------------------------------------------------------------------------------------

COVERAGE, REPEATS = STATE.index("coverage"), STATE.index("repeats")
ADDS = STATE.index("adds")


def test_the_scout_takes_the_most_probable_first_and_reaches_what_is_linked():
    policy = deciding(fresh_scout(activated=1), lambda state: 2.0 + state[COVERAGE])
    selection = policy.select(ask(PHONE), view_of())
    assert selection.chosen[0].memory.id == "m2"
    assert {c.memory.id for c in selection.chosen} >= {"m0", "m1"}
    scores = [step.probability for step in selection.trace]
    assert all(score is not None and 0.5 <= score <= 1 for score in scores)
    reached = {step.memory: step.via for step in selection.trace}
    assert reached["m0"] == "m2" and reached["m2"] is None


def test_the_scout_may_choose_nothing_and_says_what_it_left():
    selection = deciding(fresh_scout(), lambda state: -3.0).select(ask(PHONE), view_of())
    assert selection.chosen == ()
    assert selection.trace[0].reason == "stopped before it"
    assert dict(selection.trace[0].state).keys() == set(STATE)


def test_the_scout_never_takes_more_than_its_budget():
    policy = deciding(fresh_scout(budget=3), lambda state: 3.0)
    assert len(policy.select(ask(PHONE), view_of()).chosen) == 3


def test_what_is_chosen_changes_the_states_of_the_rest():
    seen = Candidates(ask(PHONE), view_of(), 8, 8)
    before = seen.states()
    assert not before[:, REPEATS].any()
    place = int(seen.open[np.argmax(before[:, COVERAGE])])
    assert seen.rows[place] == 2
    seen.take(place)
    after, rows = seen.states(), [seen.rows[place] for place in seen.open]
    uncle = rows.index(0)
    assert after[uncle, STATE.index("linked")] == 1.0
    assert after[rows.index(3), STATE.index("linked")] == 0.0
    assert 0 < after[uncle, ADDS] < before[seen.rows.index(0), ADDS]
    assert after[uncle, REPEATS] > 0
    assert (after[:, STATE.index("first")] == 0).all()


def test_a_newer_memory_of_the_same_relation_supersedes_the_older():
    told = [
        ("I live in Oslo.", ("me", "lives_in", "Oslo")),
        ("I moved to Lima.", ("me", "lives_in", "Lima")),
    ]
    seen = Candidates(ask("Where do I live?"), view_of(told), 5, 5)
    old, new = (
        dict(zip(STATE, seen.states()[seen.rows.index(row)], strict=True)) for row in (0, 1)
    )
    assert (old["superseded"], old["supersedes"]) == (1.0, 0.0)
    assert (new["superseded"], new["supersedes"]) == (0.0, 1.0)


def test_states_stay_small_numbers():
    seen = Candidates(ask(PHONE), view_of(), 8, 8)
    for _ in range(4):
        states = seen.states()
        assert states.shape[1] == len(STATE)
        assert np.isfinite(states).all() and np.abs(states).max() <= 3
        seen.take(int(seen.open[0]))


def test_the_scout_is_tiny():
    assert fresh_scout().network.size < 5000


# ---- reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 2024-05-07", [Day(2024, 5, 7)]),
        ("7 May 2023 and June 3rd", [Day(2023, 5, 7), Day(0, 6, 3)]),
        ("我生日是4月2日", [Day(0, 4, 2)]),
        ("2024年3月", [Day(2024, 3, 0)]),
        ("in July 2022, since 2019", [Day(2022, 7, 0), Day(2019, 0, 0)]),
        ("I may go, maybe on the 3", []),
    ],
)
def test_days_are_read_however_written(text: str, days: list[Day]):
    assert list(days_in(text)) == days


def test_a_day_fits_what_it_does_not_contradict():
    told = reading("I moved on 7 May 2023.")
    assert date_fit([Day(2023, 5, 0)], told) == 1.0
    assert date_fit([Day(2023, 6, 0)], told) == -1.0
    assert date_fit([], told) == 0.0


def reading(text: str) -> MemoryFeatures:
    return MemoryFeatures(told_now(text))


def told_now(text: str) -> Memory:
    return Memory("m1", text, "Event", "event.life", NOW)


def test_a_text_fits_the_kind_of_answer_that_is_asked_for():
    asked = QuestionFeatures.of("When did Ana move to Leeds?")
    assert answer_fit(asked.asked, reading("Ana: I moved last week.")) == 1.0
    assert answer_fit(asked.asked, reading("Ana: Moving is hard.")) == 0.0
    assert answer_fit(QuestionFeatures.of("哪个人住在上海?").asked, reading("我妈妈")) == 0.5


def test_speakers_and_names_are_told_apart():
    asked = QuestionFeatures.of("What does Ana like?")
    ana, ben = reading("Ana: I like tea."), reading("Ben: Diana likes tea.")
    assert (ana.speaker, name_fit(asked.names, ana)) == ("ana", 1.0)
    assert name_fit(asked.names, ben) == 0.0


def test_a_memory_may_ask():
    assert [asks(told_now(f"Ben: Diana likes tea{end}")) for end in (".", "?", "？ ")] == [
        False, True, True,
    ]  # fmt: skip


# ---- both ---------------------------------------------------------------------------------------

BOTH: list[Callable[[], LearnedPolicy]] = [fresh_walk, fresh_scout]


@pytest.mark.parametrize("make", BOTH)
def test_a_lesson_takes_just_what_is_required(make: Callable[[], LearnedPolicy]):
    states, labels = make().lesson(ask(PHONE), view_of(), frozenset({"m2", "m0"}))
    assert states.shape == (len(labels), make().network.inputs)
    assert labels.any() and not labels.all()
    _, none = make().lesson(ask(PHONE), view_of(), frozenset())
    assert len(none) and not none.any()


@pytest.mark.parametrize("make", BOTH)
def test_a_rollout_tells_each_decision_and_the_selection_after_it(
    make: Callable[[], LearnedPolicy],
):
    roll = make().roll(ask(PHONE), view_of(), np.random.default_rng(3))
    assert len(roll.states) == len(roll.actions) == len(roll.sets) > 0
    sizes = np.array([len(chosen) for chosen in roll.sets])
    assert (sizes == roll.actions.cumsum()).all()
    again = make().roll(ask(PHONE), view_of(), np.random.default_rng(3))
    assert again.sets == roll.sets


@pytest.mark.parametrize("make", BOTH)
def test_rollouts_of_a_sure_policy_are_its_selection(make: Callable[[], LearnedPolicy]):
    sure = deciding(make(), lambda state: 400.0 if state[-1] > -9 and state[0] > 0.3 else -400.0)
    chosen = {c.memory.id for c in sure.select(ask(PHONE), view_of()).chosen}
    roll = sure.roll(ask(PHONE), view_of(), np.random.default_rng(0))
    assert set(roll.chosen) == chosen


@pytest.mark.parametrize("make", BOTH)
def test_an_empty_view_gives_nothing_to_decide(make: Callable[[], LearnedPolicy]):
    empty = GraphView((), np.zeros((0, len(VOCABULARY)), np.float32))
    policy = make()
    assert policy.select(ask(PHONE), empty).chosen == ()
    assert policy.roll(ask(PHONE), empty, np.random.default_rng(0)).chosen == ()
    states, labels = policy.lesson(ask(PHONE), empty, frozenset())
    assert states.shape == (0, policy.network.inputs) and len(labels) == 0


@pytest.mark.parametrize("make", BOTH)
def test_a_network_of_another_shape_is_refused(make: Callable[[], LearnedPolicy]):
    with pytest.raises(InvalidInput, match="states of 7 numbers"):
        make().with_network(Mlp.fresh(7))


@pytest.mark.parametrize("shipped", [Walk.shipped, Scout.shipped])
def test_the_shipped_weights_fit_and_are_small(shipped: Callable[[], LearnedPolicy]):
    policy = shipped()
    assert policy.network.size < 5000
    module = {"walk": walk, "scout": scout}[policy.name]
    assert module.WEIGHTS.stat().st_size < 40_000
