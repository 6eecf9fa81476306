"""``memlane why``: what is told of how memories were chosen, and what forgetting takes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agent.answering.trace import MOST, read_trace, record
from agent.config import DEFAULT_POLICY
from cli.commands.conversation.why import canvas, nested, title_of
from policies.registry import POLICIES
from policies.selection import Selection, Step
from store.graph import MemoryGraph
from store.journal import Forget, Insert
from store.types import Draft
from tests.conftest import NOW, Result

Memlane = Callable[..., Result]
CLOCK = ("--now", "2024-05-08T09:00+00:00")
TEXTS = ("My sister Mia lives in Porto.", "Mia's bakery is called Forno.", "I like tea.")
WALK = (
    Step("m1", 0.8, True, "included", True, None, (("memory", 0.81), ("entity", 0.4)), 0.9),
    Step("m2", 0.6, True, "included", False, "m1", (("memory", 0.55),), 0.7),
    Step("m3", 0.1, False, "stopped here", True, None, (("memory", 0.1),), 0.2),
)


@pytest.fixture
def asked(graph: MemoryGraph) -> MemoryGraph:
    """Three memories and one answer that a walk chose them for."""
    graph.apply(
        [Insert(Draft(text, "attribute.belongings", NOW)) for text in TEXTS], at=NOW, actor="user"
    )
    trace = {"memories": ["m2"], "edits": [], **record(Selection("walk", (), WALK), 0.83)}
    graph.turns.log(NOW, "What is my sister's bakery called?", "retrieve", "Forno.", trace)
    return graph


def test_a_trace_tells_every_decision_with_its_state(asked: MemoryGraph, memlane: Memlane):
    told = memlane("why", "--json").json
    assert (told["turn"], told["policy"], told["likely"]) == ("t1", "walk", 0.83)
    first, second, third = told["steps"]
    assert set(first) == {
        "memory", "text", "score", "probability", "chosen", "activated", "via", "state", "reason",
        "used",
    }  # fmt: skip
    assert first["state"] == {"memory": 0.81, "entity": 0.4}
    assert (first["activated"], first["via"], first["probability"]) == (True, None, 0.9)
    assert (second["via"], second["text"], second["used"]) == ("m1", TEXTS[1], True)
    assert (third["chosen"], third["used"], third["reason"]) == (False, False, "stopped here")


def test_people_are_told_in_a_sentence(asked: MemoryGraph, memlane: Memlane):
    asked_, said, used = memlane("why").out.splitlines()
    assert asked_ == "t1: What is my sister's bakery called?"
    assert said == (
        "I looked at 3 memories and used m2, because it is about 'bakery' and 'called'; m1 was "
        "read too, but not needed; m3 was left out, because it is not about 'bakery' and 'called'."
    )
    assert used == f"  m2 {TEXTS[1]}"
    assert memlane("why", "--json").json["words"] == said


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((), "There was no memory to look at."),
        (
            (Step("m3", 0.1, False, "below the abstention threshold"),),
            "I looked at 1 memory, and none seemed to answer that (chance 4%); m3 was near, but "
            "about something else.",
        ),
    ],
)
def test_a_sentence_says_that_nothing_answers(
    asked: MemoryGraph, memlane: Memlane, steps: tuple[Step, ...], said: str
):
    trace = {"memories": [], "edits": [], **record(Selection("scout", (), steps), 0.04)}
    asked.turns.log(NOW, "Who painted the Mona Lisa?", "retrieve", "I don't know.", trace)
    assert memlane("why").out.splitlines()[1] == said


def test_people_see_what_was_reached_from_what(asked: MemoryGraph, memlane: Memlane):
    title, *lines = memlane("why", "t1", "--details").out.splitlines()
    assert "walk chose 2 of 3" in title
    assert [len(line) - len(line.lstrip()) for line in lines] == [2, 4, 2]
    assert "used" in lines[1]
    assert "started here, left out" in lines[2]
    assert "entity 0.400, memory 0.810" not in memlane("why", "--details").out
    assert "entity 0.400, memory 0.810" in memlane("why", "--states").out


def test_kept_traces_hold_no_text(asked: MemoryGraph):
    kept = json.dumps(asked.turns.get("t1").trace)
    assert not any(word in kept for word in ("Mia", "Porto", "Forno"))


@pytest.mark.parametrize("softly", [True, False])
def test_what_is_forgotten_is_not_told(asked: MemoryGraph, memlane: Memlane, softly: bool):
    if softly:
        asked.apply([Forget("m3")], at=NOW, actor="user")
    else:
        asked.erase(["m3"], at=NOW)
    result = memlane("why", "--json")
    assert TEXTS[2] not in result.out
    steps = {step["memory"]: step for step in result.json["steps"]}
    assert steps["m3"]["text"] is None
    assert steps["m1"]["text"] == TEXTS[0]
    assert "m3" in memlane("why", "--details").out
    assert "(forgotten)" in memlane("why", "--details").out
    if not softly:  # nor is what was seen of it
        assert steps["m3"]["state"] == {}
        assert steps["m3"]["probability"] is None


def test_forgetting_what_an_answer_rests_on_forgets_how_it_was_found(
    asked: MemoryGraph, memlane: Memlane
):
    asked.erase(["m2"], at=NOW)
    result = memlane("why", "--json").json
    assert (result["steps"], result["redacted"]) == ([], True)
    assert "forgotten" in memlane("why").out
    assert "forgotten" in memlane("why", "--details").out


def test_a_turn_that_is_not_there_gives_one_line(asked: MemoryGraph, memlane: Memlane):
    for turn in ("t99", "m1", "nonsense"):
        result = memlane("why", turn)
        assert (result.code, result.out) == (1, "")
        assert len(result.err.splitlines()) == 1


def test_without_any_turn_it_says_what_to_do(memlane: Memlane):
    result = memlane("why")
    assert result.code == 1
    assert "memlane ask" in result.err


def test_a_turn_that_chose_nothing_says_so(memlane: Memlane, graph: MemoryGraph):
    graph.turns.log(NOW, "I like tea.", "update", "Remembered.", {"memories": [], "edits": ["e1"]})
    result = memlane("why")
    assert result.code == 0
    assert result.out == "No memory was needed for this.\n"
    assert "no memories were chosen" in memlane("why", "--details").out
    assert memlane("why", "--json").json["policy"] is None


def test_the_picture_shows_the_path(asked: MemoryGraph, memlane: Memlane, tmp_path: Path):
    result = memlane("why", "--picture", str(tmp_path / "why.svg"), "--json")
    assert result.json["picture"].endswith("why.svg")
    root = ElementTree.parse(tmp_path / "why.svg").getroot()
    said = " ".join("".join(node.itertext()) for node in root.iter() if node.tag.endswith("text"))
    assert TEXTS[0] in said
    assert "memory 0.810" in "".join(root.itertext())
    assert len([node for node in root.iter() if node.tag.endswith("polyline")]) == 1
    assert memlane("why", "-o", "why.png").code == 2


def test_a_picture_of_many_steps_keeps_its_lines_apart(asked: MemoryGraph):
    steps = tuple(Step(f"m{n}", 0.5, n % 2 == 0, "r", n == 1, None) for n in range(1, 60))
    asked.turns.log(NOW, "?", "retrieve", "", record(Selection("walk", (), steps)))
    picture = canvas(read_trace(asked))
    assert picture.height > 59 * 20


def test_a_long_trace_is_cut_behind_what_was_chosen(asked: MemoryGraph):
    steps = tuple(Step(f"m{n}", 0.5, n == MOST + 50, "r") for n in range(1, MOST + 51))
    kept = record(Selection("all", (), steps))
    assert (len(kept["steps"]), kept["cut"]) == (MOST, 50)
    assert kept["steps"][0]["memory"] == f"m{MOST + 50}"
    asked.turns.log(NOW, "?", "retrieve", "", kept)
    assert f"of {MOST + 50}" in title_of(read_trace(asked))


def test_an_imported_trace_that_goes_in_circles_ends(asked: MemoryGraph):
    steps = (
        Step("m1", 0.5, True, "r"),
        Step("m2", 0.5, True, "r", via="m1"),
        Step("m1", 0.4, True, "r", via="m2"),
    )
    asked.turns.log(NOW, "?", "retrieve", "", record(Selection("x", (), steps)))
    assert [(depth, t.step.memory) for depth, t in nested(read_trace(asked))] == [
        (0, "m1"), (1, "m2"),
    ]  # fmt: skip


def test_a_real_answer_can_be_asked_why(memlane: Memlane):
    memlane(*CLOCK, "remember", "I live in Jurong West, Singapore.")
    memlane(*CLOCK, "remember", "My boss is Kenji Tan.")
    turn = memlane(*CLOCK, "ask", "Where do I live?", "--no-llm", "--json").json["turn"]
    told = memlane("why", turn, "--json").json
    assert told["policy"] == DEFAULT_POLICY
    chosen = [step for step in told["steps"] if step["chosen"]]
    assert chosen[0]["text"] == "I live in Jurong West, Singapore."


@pytest.mark.parametrize("name", sorted(set(POLICIES) - {"picked", "oracle", "rums-direct"}))
def test_every_policy_can_be_chosen_and_asked_why(memlane: Memlane, name: str):
    memlane(*CLOCK, "remember", "I live in Jurong West, Singapore.")
    memlane(*CLOCK, "remember", "My boss is Kenji Tan.")
    asked = memlane(*CLOCK, "ask", "Where do I live?", "--policy", name, "--no-llm", "--json")
    assert asked.code == 0, asked.err
    assert memlane("why", "--json").json["policy"] == name


@pytest.mark.parametrize("name", ["picked", "oracle", "rums-direct"])
def test_a_policy_that_lacks_its_tool_is_refused_in_one_line(memlane: Memlane, name: str):
    result = memlane("ask", "Where do I live?", "--policy", name, "--no-llm")
    assert result.code == 2
    assert len(result.err.splitlines()) == 1


def test_config_checks_the_name_of_a_policy(memlane: Memlane):
    assert memlane("config", "set", "policy", "walk").code == 0
    for wrong in ("magic", "oracle"):
        result = memlane("config", "set", "policy", wrong)
        assert result.code == 2
        assert "top-k" in result.err
