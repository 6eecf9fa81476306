"""Who is who: names, phrases and roles -> entities. Only what is said outright joins two names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.extraction.triples.read import triples_for
from agent.memory.entities.aliases import also_said, in_names_of, mixed_up
from agent.memory.entities.identity import Identities
from agent.memory.entities.merge_split import decide, plan_merge, plan_part, plan_reject, plan_split
from agent.memory.entities.names import may_be_one
from agent.memory.entities.suggestions import suggestions
from store.errors import EditConflict, InvalidInput, UnknownId
from store.graph import MemoryGraph
from store.journal import Insert
from store.types import Draft, Memory, Status, Triple, Trust

START = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
LATER = START + timedelta(days=30)


def told(
    number: int,
    text: str,
    *,
    status: Status = Status.CURRENT,
    valid_until: datetime | None = None,
    trust: Trust | None = None,
) -> Memory:
    """A memory of this text, told ``number`` hours after the start."""
    return Memory(
        f"m{number}",
        text,
        "Relationship",
        "relationship.colleague_friends",
        START + timedelta(hours=number),
        triples=triples_for([text], None)[0],
        status=status,
        valid_until=valid_until,
        trust=trust,
    )


def known(*texts: str) -> Identities:
    return Identities([told(n, text) for n, text in enumerate(texts, 1)], LATER)


def add(graph: MemoryGraph, *texts: str) -> None:
    for number, text in enumerate(texts):
        draft = Draft(
            text,
            "relationship.colleague_friends",
            START + timedelta(hours=number),
            triples=triples_for([text], None)[0],
        )
        graph.apply([Insert(draft)], at=START + timedelta(hours=number))


def one(identities: Identities, *names: str) -> bool:
    return len({identities.who(name) for name in names}) == 1


# ---- what is told -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["My boss is Mr Adeyemi.", "Tunde is my boss."], ["my boss", "Mr Adeyemi", "Tunde"]),
        (["Mr Adeyemi's first name is Tunde."], ["Mr Adeyemi", "Tunde", "Tunde Adeyemi"]),
        (["Everyone calls Tunde Adeyemi Tee."], ["Tunde Adeyemi", "Tee"]),
        (["Tee is short for Tunde."], ["Tee", "Tunde"]),
        (["Ms Halloran is also known as Bríd."], ["Ms Halloran", "Bríd"]),
        (["Bríd and Ms Halloran are the same person."], ["Ms Halloran", "Bríd"]),
        (["Bríd is Ms Halloran."], ["Ms Halloran", "Bríd"]),
        (["My boss and Tunde are one and the same."], ["my boss", "Tunde"]),
        (["Marisol is Petra's cousin."], ["Petra's cousin", "Marisol"]),
        (["My sister is Petra.", "Petra's dentist is Ugo."], ["my sister's dentist", "Ugo"]),
        (["I am married to Anselm."], ["my husband", "Anselm", "my spouse"]),
        (["My mum is Odile."], ["my mother", "my mum", "Odile"]),
        (["My name is Ilse Brandt.", "Everyone calls me Lily."], ["I", "Ilse Brandt", "Lily"]),
        (["My boss is Tunde.", "My boss's wife is Amara."], ["Tunde's wife", "Amara"]),
    ],
)
def test_names_told_to_be_one_are_one(texts: Sequence[str], names: Sequence[str]):
    assert one(known(*texts), *names)


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["My boss is Mr Adeyemi.", "My colleague is Tunde."], ["Mr Adeyemi", "Tunde"]),
        (["Mr Adeyemi likes golf.", "Tunde Adeyemi likes golf."], ["Mr Adeyemi", "Tunde Adeyemi"]),
        (["Jon is my friend.", "John is my friend."], ["Jon", "John"]),
        (["My boss is Mr Adeyemi.", "My boss is Ms Halloran."], ["Mr Adeyemi", "Ms Halloran"]),
        (["My friend is Ana.", "My friend is Bea."], ["my friend", "Ana"]),
        (["My boss is Swedish."], ["my boss", "Swedish"]),
        (["Kenji's surname is Oda."], ["Kenji", "Oda"]),
        (["My jacket and my bag are the same colour."], ["my jacket", "my bag"]),
        (["Jon and John are two different people."], ["Jon", "John"]),
    ],
)
def test_names_that_nobody_joined_stay_apart(texts: Sequence[str], names: Sequence[str]):
    assert not one(known(*texts), *names)


def test_what_is_told_to_be_two_is_never_joined_through_a_third():
    identities = known(
        "Jon and John are two different people.",
        "Jon and Jonathan are the same person.",
        "John and Jonathan are the same person.",
    )
    assert not one(identities, "Jon", "John")


@pytest.mark.parametrize("trust", [Trust.SEEN, Trust.RELAYED])
def test_a_screenshot_or_quoted_words_join_nobody(trust: Trust):
    mine = told(1, "My boss is Mr Adeyemi.")
    theirs = [
        told(2, "Mallory is my boss.", trust=trust),
        told(3, "Mallory and Mr Adeyemi are the same person.", trust=trust),
    ]
    identities = Identities([mine, *theirs], LATER)
    assert one(identities, "my boss", "Mr Adeyemi")
    assert not one(identities, "Mallory", "Mr Adeyemi")


def test_a_role_is_who_held_it_when_it_was_said():
    first = told(1, "My boss is Mr Adeyemi.", status=Status.REPLACED)
    first = replace(first, valid_until=START + timedelta(hours=10))
    identities = Identities([first, told(10, "My new boss is Ms Halloran.")], LATER)
    assert identities.who("my boss") == identities.who("Ms Halloran")
    assert identities.who("my boss", START + timedelta(hours=5)) == identities.who("Mr Adeyemi")
    assert identities.who("my boss", START) == identities.who("Mr Adeyemi")  # before he was named
    assert "my boss" in identities.phrases(identities.who("Ms Halloran"))
    assert "my boss" not in identities.phrases(identities.who("Mr Adeyemi"))


def test_names_of_one_holder_stay_one_after_the_role_has_passed_on():
    until = START + timedelta(hours=10)
    identities = Identities(
        [
            told(1, "My boss is Mr Adeyemi.", status=Status.REPLACED, valid_until=until),
            told(2, "Tunde is my boss.", valid_until=until),
            told(10, "My boss is Ms Halloran."),
        ],
        LATER,
    )
    assert one(identities, "Tunde", "Mr Adeyemi")
    assert not one(identities, "Tunde", "Ms Halloran")


@pytest.mark.parametrize(
    "texts",
    [
        ["Tom is Tom's brother."],
        ["Tom is Ann's cousin.", "Ann is Tom's cousin."],
        ["Tom's boss is Ann.", "Ann's boss is Tom."],
        ["My boss's boss is Ann.", "Ann's boss is Tom.", "Tom's boss is Ann."],
        ["Robert'); DROP TABLE memories;-- is my boss."],
        ["\u202eכהן\u202c and 🦊 are the same person."],
        ["My boss is " + "Very " * 400 + "Long."],
    ],
)
def test_odd_relations_and_names_end(texts: Sequence[str]):
    identities = known(*texts)
    for name in ("Tom's brother", "Tom's cousin's cousin", "my boss's boss's boss", "🦊", "", "'s"):
        assert isinstance(identities.who(name), str)
    identities.mentions(" ".join(texts))
    assert not one(identities, "Tom", "Ann")


def test_names_that_cannot_be_one_person():
    assert may_be_one("Mr Oda", "Kenji")
    assert may_be_one("Mr Oda", "Kenji Oda")
    assert not may_be_one("Mr Oda", "Ms Oda")
    assert not may_be_one("Mr Oda", "Kenji Mori")
    assert not may_be_one("Kenji", "Rosa")


# ---- comparing and asking -----------------------------------------------------------------


def test_a_draft_is_compared_in_the_names_of_the_memory():
    identities = known("My boss is Mr Adeyemi.", "Tunde is my boss.")
    memory = told(3, "My boss lives in Enugu.")
    text = "Tunde lives in Lagos."
    draft = Draft(text, memory.subclass, LATER, triples=triples_for([text], None)[0])
    worded = in_names_of(draft, identities)(memory)
    assert worded.text == "My boss lives in Lagos."
    assert worded.triples == (Triple("my boss", "lives_in", "Lagos"),)


def test_a_question_is_asked_under_all_names_and_answered_of_the_right_one():
    first = told(1, "My boss is Tunde.", status=Status.REPLACED)
    first = replace(first, valid_until=START + timedelta(hours=10))
    identities = Identities([first, told(10, "My boss is Ms Halloran.")], LATER)
    his, hers = told(3, "My boss drinks coffee."), told(12, "My boss drinks cocoa.")
    means, variants = also_said("What does Tunde drink?", LATER, identities)
    assert "What does my boss drink?" in variants
    assert not mixed_up(means, his, identities)
    assert mixed_up(means, hers, identities)
    means, _ = also_said("What does my boss drink?", LATER, identities)
    assert mixed_up(means, his, identities)
    assert not mixed_up(means, hers, identities)


# ---- by hand ------------------------------------------------------------------------------


def at_hand(graph: MemoryGraph) -> Identities:
    return Identities.of(graph, LATER)


def test_a_merge_by_hand_joins_and_its_undo_parts_again(graph: MemoryGraph):
    add(graph, "Jon is my friend.", "John likes chess.")
    before = graph.memories.list()
    assert not one(at_hand(graph), "Jon", "John")
    entries = decide(plan_merge("jon", "John", at_hand(graph), graph), graph, LATER)
    assert one(at_hand(graph), "Jon", "John")
    assert graph.verify() == ()
    graph.undo(entries[0].id, at=LATER)
    assert not one(at_hand(graph), "Jon", "John")
    assert graph.memories.list() == before
    assert graph.verify() == ()


def test_a_split_takes_the_place_of_the_merge_and_of_what_was_told(graph: MemoryGraph):
    add(graph, "Jon is my friend.", "John likes chess.", "Mr Oda's first name is Kenji.")
    decide(plan_merge("Jon", "John", at_hand(graph), graph), graph, LATER)
    decide(plan_split("Jon", None, at_hand(graph), graph), graph, LATER)
    assert not one(at_hand(graph), "Jon", "John")
    decide(plan_split("Kenji", "Mr Oda", at_hand(graph), graph), graph, LATER)
    assert not one(at_hand(graph), "Kenji", "Mr Oda")
    decide(plan_merge("Kenji", "Mr Oda", at_hand(graph), graph), graph, LATER)
    assert one(at_hand(graph), "Kenji", "Mr Oda")
    assert graph.verify() == ()


def test_a_phrase_can_be_split_from_a_name(graph: MemoryGraph):
    add(graph, "My boss is Mr Oda.")
    decide(plan_split("my boss", "Mr Oda", at_hand(graph), graph), graph, LATER)
    assert not one(at_hand(graph), "my boss", "Mr Oda")


def test_two_people_of_one_name_get_names_of_their_own(graph: MemoryGraph):
    add(graph, "Tom is my brother.", "Tom is my colleague.", "Tom likes chess.")
    plan = plan_part("Tom", ["m2", "m3"], "Tom (work)", at_hand(graph), graph)
    entries = decide(plan, graph, LATER)
    assert one(at_hand(graph), "my colleague", "Tom (work)")
    assert one(at_hand(graph), "my brother", "Tom")
    assert not one(at_hand(graph), "Tom", "Tom (work)")
    for entry in reversed(entries):
        graph.undo(entry.id, at=LATER)
    assert one(at_hand(graph), "my colleague", "Tom")
    assert graph.verify() == ()


def test_what_cannot_be_decided_is_refused_with_the_remedy(graph: MemoryGraph):
    add(graph, "Jon is my friend.", "Mr Oda's first name is Kenji.", "Jon is not my boss.")
    hand = at_hand(graph)
    refused: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: plan_merge("Jon", "jon", hand, graph), InvalidInput, "one name"),
        (lambda: plan_merge("Kenji", "Mr Oda", hand, graph), EditConflict, "already merged"),
        (lambda: plan_merge("Jonn", "Kenji", hand, graph), UnknownId, "Did you mean Jon?"),
        (lambda: plan_merge("Jon", "  ", hand, graph), InvalidInput, "empty"),
        (lambda: plan_merge("Jon", "x" * 500, hand, graph), InvalidInput, "500 characters"),
        (lambda: plan_merge("Jon", "'; DROP TABLE memories;--", hand, graph), UnknownId, "known"),
        (lambda: plan_split("Jon", "Kenji", hand, graph), EditConflict, "not merged"),
        (lambda: plan_split("Jon", None, hand, graph), EditConflict, "no other name"),
        (lambda: plan_reject("Kenji", "Mr Oda", hand, graph), EditConflict, "entities split"),
        (lambda: plan_part("Jon", ["m2"], "Jon 2", hand, graph), InvalidInput, "does not name"),
        (lambda: plan_part("Jon", ["m1"], "jon", hand, graph), InvalidInput, "its own name"),
    ]
    for plan, error, says in refused:
        with pytest.raises(error, match=says):
            plan()
    assert len(graph.journal.list()) == 3


def test_forgetting_for_good_leaves_no_trace_of_an_alias(graph: MemoryGraph):
    add(graph, "Mr Oda likes chess.", "Everyone calls Mr Oda Quicksilver.")
    assert one(at_hand(graph), "Mr Oda", "Quicksilver")
    graph.erase(["m2"], at=LATER)
    assert not one(at_hand(graph), "Mr Oda", "Quicksilver")
    assert graph.prove_forgotten().left == ()
    assert b"uicksilver" not in graph.path.read_bytes()


def test_a_kept_look_at_identities_follows_every_kind_of_edit(graph: MemoryGraph):
    add(graph, "Jon is my friend.", "John likes chess.")
    at_hand(graph)
    entry = decide(plan_merge("Jon", "John", at_hand(graph), graph), graph, LATER)[0]
    for joined in (False, True, False):
        entry = graph.undo(entry.id, at=LATER)
        assert one(at_hand(graph), "Jon", "John") is joined
        assert one(Identities(graph.memories.list(), LATER), "Jon", "John") is joined


_DECISIONS = st.lists(
    st.tuples(
        st.sampled_from(["merge", "split", "reject", "undo"]),
        st.sampled_from(["Jon", "John", "Mr Oda", "Kenji", "my boss"]),
        st.sampled_from(["Jon", "John", "Mr Oda", "Kenji", "my boss"]),
    ),
    max_size=8,
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(_DECISIONS)
def test_any_decisions_undone_give_the_rows_back(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
):
    plans = {"merge": plan_merge, "split": plan_split, "reject": plan_reject}
    with MemoryGraph.open(tmp_path_factory.mktemp("home")) as graph:
        add(graph, "Jon is my friend.", "John likes chess.", "Mr Oda's first name is Kenji.",
            "My boss is Mr Oda.")  # fmt: skip
        before, lines = graph.memories.list(), len(graph.journal.list())
        for step, first, second in steps:
            try:
                if step == "undo" and int(graph.journal.last_standing().id[1:]) > lines:
                    graph.undo(at=LATER)
                elif step != "undo":
                    decide(plans[step](first, second, at_hand(graph), graph), graph, LATER)
            except (EditConflict, InvalidInput, UnknownId):
                pass
            assert graph.verify() == ()
        while graph.memories.list() != before:
            graph.undo(at=LATER)
        assert graph.verify() == ()
        assert one(at_hand(graph), "Mr Oda", "Kenji", "my boss")
        assert not one(at_hand(graph), "Jon", "John")


# ---- suggestions --------------------------------------------------------------------------


def suggested(*texts: str) -> list[tuple[str, str | None]]:
    memories = [told(n, text) for n, text in enumerate(texts, 1)]
    return [(s.one, s.other) for s in suggestions(memories, Identities(memories, LATER), LATER)]


def test_what_may_be_one_is_suggested_and_not_done():
    assert suggested("Kenji Oda likes golf.", "Mr Oda likes tea.") == [("Kenji Oda", "Mr Oda")]
    assert suggested("Jon is my friend.", "John is my friend.") == [("Jon", "John")]


@pytest.mark.parametrize(
    "texts",
    [
        ["Mr Oda likes golf.", "Ms Oda likes tea."],
        ["Kenji Oda likes golf.", "Rosa Oda likes tea."],
        ["Kenji Oda is Mr Oda's cousin."],
        ["Jon likes golf.", "John likes tea."],
        ["Jon is my friend.", "John is my friend.", "Jon and John are two different people."],
        ["Jon is my friend.", "John is my friend.", "Jon and John are the same person."],
    ],
)
def test_what_cannot_be_or_is_decided_is_not_suggested(texts: Sequence[str]):
    assert suggested(*texts) == []


def test_one_name_in_two_circles_is_suggested_to_be_two():
    assert suggested("Tom is my brother.", "Tom is my colleague.") == [("Tom", None)]
    assert suggested("Tom is my brother.", "Tom is my friend.") == []


def test_a_rejected_suggestion_stays_rejected(graph: MemoryGraph):
    add(graph, "Kenji Oda likes golf.", "Mr Oda likes tea.", "Tom is my brother.",
        "Tom is my colleague.")  # fmt: skip
    assert len(suggestions(graph.memories.list(), at_hand(graph), LATER)) == 2
    decide(plan_reject("Mr Oda", "Kenji Oda", at_hand(graph), graph), graph, LATER)
    entry = decide(plan_reject("Tom", None, at_hand(graph), graph), graph, LATER)[0]
    assert suggestions(graph.memories.list(), at_hand(graph), LATER) == ()
    graph.undo(entry.id, at=LATER)
    assert len(suggestions(graph.memories.list(), at_hand(graph), LATER)) == 1
