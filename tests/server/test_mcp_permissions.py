"""What a program may do over MCP, and what the person is asked before it is done."""

from __future__ import annotations

import pytest

from agent.server.mcp.permissions import READING, allowed, named, read_permissions
from store.errors import InvalidInput
from store.types import Status
from tests.conftest import NOW, Result
from tests.support.mcp_client import CAT, Job, Person, said, tool

# ---- what is allowed ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "job",
    [
        tool("memory_remember", text="I like tea."),
        tool("memory_edit", memory="m1", text="My cat is called Tom."),
        tool("memory_forget", memory="m1"),
    ],
)
def test_a_program_that_nothing_is_said_of_may_only_read(talk, cat, job: Job):
    done = talk(job, says=Person("accept", agreed=True))
    assert done.is_error and "'tester' may not" in said(done)
    assert [m.text for m in cat.memories.list()] == [CAT]
    assert cat.memories.get("m1").status is Status.CURRENT


def test_permissions_go_by_the_configured_name(talk, cat):
    job = tool("memory_remember", text="I like green tea.")
    assert not talk(job, "Tester: search remember").is_error
    assert talk(job, "other: search remember").is_error
    assert talk(job, "*: none", "other: remember").is_error
    # The name on the command line is the person's; what a program says of itself is not.
    assert talk(job, "tester: remember", client="guest").is_error
    assert not talk(job, "guest: remember", client="guest", name="whatever").is_error


def test_a_pinned_program_is_only_offered_what_it_may(talk):
    listed = talk(lambda client: client.list_tools(), "guest: search", client="guest").tools
    assert "memory_search" in [t.name for t in listed]
    assert not {t.name for t in listed} & {"memory_remember", "memory_edit", "memory_forget"}
    assert talk(tool("memory_search", query="cat"), "guest: none", client="guest").is_error


def test_permissions_that_say_nothing_are_refused(talk):
    for line in ("tester", "tester:", ": search", "tester: search fly"):
        with pytest.raises(InvalidInput, match="agents in the configuration"):
            read_permissions([line])
    assert allowed(read_permissions(["a: none"]), "A") == frozenset()
    assert allowed({}, "anybody") == READING
    assert named("  a\nb: c; " + "x" * 100) == named("a b: c; " + "x" * 100)
    assert named(None) == "unknown"


# ---- what it changes ------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_person_is_asked_before_something_is_forgotten(talk, cat, mode: str):
    says = Person("accept", agreed=True)
    done = talk(tool("memory_forget", memory="m1"), "tester: forget", says=says, mode=mode)
    assert not done.is_error, said(done)
    assert says.asked == [f"tester asks memlane to leave out of every answer: {CAT!r} (m1)."]
    assert cat.memories.get("m1").status is Status.FORGOTTEN
    cat.undo(done.structured_content["edits"][0]["id"], at=NOW)
    assert cat.memories.get("m1").status is Status.CURRENT
    assert cat.verify() == ()


@pytest.mark.parametrize(
    "says",
    [Person("decline"), Person("cancel"), Person("accept", agreed=False)],
)
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_without_the_persons_consent_nothing_changes(talk, cat, says, mode: str):
    done = talk(tool("memory_forget", memory="m1"), "tester: forget", says=says, mode=mode)
    assert done.is_error and "did not agree" in said(done)
    assert cat.memories.get("m1").status is Status.CURRENT


def test_an_edit_shows_both_texts_and_keeps_the_old_one(talk, cat):
    says = Person("accept", agreed=True)
    job = tool("memory_edit", memory="m1", text="My cat is called Tom.")
    done = talk(job, "tester: edit", says=says)
    assert not done.is_error, said(done)
    assert "'My cat is called Tom.' in the place of 'My cat is called Zanzibar.'" in says.asked[0]
    old, new = cat.memories.list()
    assert (old.status, new.text) == (Status.REPLACED, "My cat is called Tom.")
    assert cat.verify() == ()


def test_a_client_that_cannot_ask_needs_the_persons_code(talk, cat, memlane):
    may = "tester: edit forget"
    done = talk(tool("memory_forget", memory="m1"), may)
    assert done.is_error and "memlane mcp --codes" in said(done)
    shown: Result = memlane("mcp", "--codes", "--json", "--now", NOW.isoformat())
    (waiting,) = shown.json["codes"]
    assert (waiting["client"], waiting["action"], waiting["memory"]) == ("tester", "forget", "m1")
    code = waiting["code"]
    assert code not in said(done)
    # It is for just this change, of just this program, and once.
    assert talk(tool("memory_edit", memory="m1", text="My cat is gone.", code=code), may).is_error
    assert talk(tool("memory_forget", memory="m1", code=code), may, "x: forget", name="x").is_error
    assert cat.memories.get("m1").status is Status.CURRENT
    assert not talk(tool("memory_forget", memory="m1", code=code), may).is_error
    assert cat.memories.get("m1").status is Status.FORGOTTEN


def test_a_wrong_code_uses_the_right_one_up(talk, cat, memlane):
    may = "tester: forget"
    talk(tool("memory_forget", memory="m1"), may)
    (waiting,) = memlane("mcp", "--codes", "--json", "--now", NOW.isoformat()).json["codes"]
    wrong = "000000" if waiting["code"] != "000000" else "000001"
    assert talk(tool("memory_forget", memory="m1", code=wrong), may).is_error
    assert talk(tool("memory_forget", memory="m1", code=waiting["code"]), may).is_error
    assert cat.memories.get("m1").status is Status.CURRENT


def test_a_code_ends_and_nothing_of_it_is_left(talk, cat, memlane):
    talk(tool("memory_edit", memory="m1", text="My cat is called Tom."), "tester: edit")
    late = NOW.replace(minute=30).isoformat()
    assert memlane("mcp", "--codes", "--json", "--now", late).json == {"codes": []}
    assert not list(cat.confirmations._rows.query("SELECT * FROM confirmations"))
    assert "No changes wait" in memlane("mcp", "--codes").out


def test_an_erased_memory_takes_its_question_with_it(talk, cat):
    talk(tool("memory_edit", memory="m1", text="My cat is called Tom."), "tester: edit")
    assert cat.erase(["m1"], at=NOW).verified
    assert not list(cat.confirmations._rows.query("SELECT * FROM confirmations"))
