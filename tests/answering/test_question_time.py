"""Questions about other times than now: what is asked, and which memories held then."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agent.answering.question.question_time import About, read_question
from agent.answering.question.time_filter import eligible
from agent.memory.time import timeline
from agent.memory.time.timeline import Timeline
from agent.session.session import Session
from store.types import Memory, Status, Triple
from tests.conftest import ScriptedModel

NOW = datetime(2024, 5, 20, 10, tzinfo=UTC)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "about", "start", "end"),
    [
        ("Where do I live?", About.NOW, None, None),
        ("Where do I live at the moment?", About.NOW, None, None),
        ("Where do I live now?", About.NOW, None, None),
        ("What do I have today?", About.NOW, "2024-05-20", "2024-05-21"),
        ("What was my wifi code again?", About.NOW, None, None),
        ("What should I do before Friday?", About.NOW, None, "2024-05-24"),
        ("Where did I live in March?", About.AT, "2024-03-01", "2024-04-01"),
        ("Where did I live in June?", About.AT, "2023-06-01", "2023-07-01"),
        ("What was my address last year?", About.AT, "2023-01-01", "2024-01-01"),
        ("Where did I work before March?", About.AT, None, "2024-03-01"),
        ("Where did I live until March?", About.AT, None, "2024-03-01"),
        ("What was my job as of 3 March?", About.AT, "2024-03-03", "2024-03-04"),
        ("Where did I live between January and March?", About.AT, "2024-01-01", "2024-04-01"),
        ("Who was my boss two weeks ago?", About.AT, "2024-05-06", "2024-05-07"),
        ("Where will I live in June?", About.AT, "2024-06-01", "2024-07-01"),
        ("Where did I work before?", About.FORMER, None, None),
        ("What is my old address?", About.FORMER, None, None),
        ("Who is my previous boss?", About.FORMER, None, None),
        ("Where did I use to live?", About.PAST, None, None),
        ("Who was my boss?", About.PAST, None, None),
        ("Did I book a table?", About.HAPPENED, None, None),
        ("When did I move?", About.CHANGE, None, None),
        ("Since when do I work at Bolt?", About.CHANGE, None, None),
        ("Until when is my voucher valid?", About.NOW, None, None),
        ("Where will I work?", About.PLANNED, None, None),
        ("When do I start at Bolt?", About.PLANNED, None, None),
        ("Which cities have I lived in?", About.EVER, None, None),
        ("What's on for 9 June? There were a few things.", About.AT, "2024-06-09", "2024-06-10"),
        ("The bank will not speak to me before. What is my code?", About.NOW, None, None),
        ("I was born in June. What did I do then?", About.AT, "2023-06-01", "2023-07-01"),
    ],
)
def test_what_time_a_question_is_about(
    question: str, about: About, start: str | None, end: str | None
):
    asked = read_question(question, NOW)
    assert asked.about is about
    assert asked.start == (day(start) if start else None)
    assert asked.end == (day(end) if end else None)


@pytest.mark.parametrize(
    ("question", "link", "anchor"),
    [
        ("Who was my boss before Mr Tan?", "before", "Mr Tan"),
        ("Where did I live before I moved to Bedok?", "before", "I moved to Bedok"),
        ("Where did I work when I lived in Oslo?", "while", "I lived in Oslo"),
        ("When I worked at Acme, where did I live?", "while", "I worked at Acme"),
        ("Where did I work after Acme?", "after", "Acme"),
    ],
)
def test_a_time_may_be_told_by_something_else(question: str, link: str, anchor: str):
    asked = read_question(question, NOW)
    assert (asked.link, asked.anchor) == (link, anchor)


def state(
    id: str,
    text: str,
    created: str,
    *,
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    status: Status = Status.CURRENT,
    replaced_by: str | None = None,
) -> Memory:
    triple = Triple("me", "lives_in", text.rstrip(".").split()[-1])
    memory = Memory(id, text, "Attribute", "attribute.address", day(created), (triple,))
    return replace(
        memory,
        valid_from=valid_from,
        valid_until=valid_until,
        status=status,
        replaced_by=replaced_by,
    )


OSLO = state("m1", "I live in Oslo.", "2024-02-10", status=Status.REPLACED, replaced_by="m2",
             valid_until=day("2024-03-15"))  # fmt: skip
BEDOK = state("m2", "I moved to Bedok.", "2024-05-02", valid_from=day("2024-03-15"),
              status=Status.REPLACED, replaced_by="m3", valid_until=day("2024-06-01"))  # fmt: skip
BERLIN = state("m3", "We are moving to Berlin.", "2024-05-10", valid_from=day("2024-06-01"))
HOMES = (OSLO, BEDOK, BERLIN)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Where do I live?", {"m2"}),
        ("Where did I live in February?", {"m1"}),
        ("Where did I live on 1 April?", {"m2"}),
        ("Where did I live in March?", {"m1", "m2"}),
        ("Where did I live in 2023?", {"m1"}),
        ("Where did I live before?", {"m1"}),
        ("Where did I live before March?", {"m1"}),
        ("What was my address?", {"m1"}),
        ("When did I move?", {"m2"}),
        ("When did I leave Oslo?", {"m1", "m2"}),
        ("Where will I live in June?", {"m3"}),
        ("Where will I live?", {"m3"}),
        ("When do we move?", {"m3"}),
        ("Which cities have I lived in?", {"m1", "m2", "m3"}),
    ],
)
def test_only_what_held_then_may_answer(question: str, answers: set[str]):
    assert eligible(Timeline(HOMES), read_question(question, NOW)) == answers


def test_a_plan_takes_effect_by_itself():
    asked = read_question("Where do I live?", day("2024-06-02"))
    assert eligible(Timeline(HOMES), asked) == {"m3"}


def test_without_a_former_value_the_present_one_is_none():
    home = replace(BEDOK, status=Status.CURRENT, replaced_by=None, valid_until=None)
    assert eligible(Timeline((home,)), read_question("Where did I live before?", NOW)) == set()


def test_an_appointment_that_was_moved_never_was_at_the_first_hour():
    first = Memory("m1", "I have a dentist appointment on 2024-05-10 10:00.", "Event",
                   "event.arrangement", day("2024-05-01"), status=Status.REPLACED,
                   replaced_by="m2", valid_until=day("2024-05-03"))  # fmt: skip
    moved = Memory("m2", "I have a dentist appointment on 2024-05-10 11:00.", "Event",
                   "event.arrangement", day("2024-05-03"),
                   valid_until=day("2024-05-11"))  # fmt: skip
    both = Timeline((first, moved))
    assert eligible(both, read_question("When was my dentist appointment?", NOW)) == {"m2"}
    assert eligible(both, read_question("When is my dentist appointment?", NOW)) == set()
    originally = read_question("When was my dentist appointment originally?", NOW)
    assert eligible(both, originally) == {"m1"}


# ---- through a session ---------------------------------------------------------------------


def told(session: Session, *said: tuple[str, str]) -> None:
    for at, text in said:
        session.remember(text, at=day(at))


def chosen(session: Session, question: str, now: datetime = NOW) -> list[str]:
    there = Session(
        replace(session.config, fixed_now=now),
        session.graph,
        llm=session.llm,
        embedder=session.embedder,
    )
    return [choice.memory.text for choice in there.select(question).chosen]


def test_a_move_counts_from_when_it_was_not_from_when_it_was_told(session: Session):
    told(
        session,
        ("2024-02-01", "I live in Oslo."),
        ("2024-05-02", "I moved from Oslo to Bedok in March."),
    )
    assert chosen(session, "Where did I live in April?") == [
        "I moved from Oslo to Bedok in March 2024."
    ]
    assert chosen(session, "Where did I live in February?") == ["I live in Oslo."]
    assert chosen(session, "Where do I live?") == ["I moved from Oslo to Bedok in March 2024."]


def test_a_past_state_never_takes_the_place_of_the_present_one(session: Session):
    told(session, ("2024-05-01", "I live in Bedok."), ("2024-05-02", "I lived in Oslo until 2019."))
    assert chosen(session, "Where do I live?") == ["I live in Bedok."]
    assert chosen(session, "Where did I live before?") == ["I lived in Oslo until 2019."]
    assert chosen(session, "Where did I live in 2018?") == ["I lived in Oslo until 2019."]
    assert session.graph.verify() == ()


def test_used_to_ends_what_was_told_as_present(session: Session):
    told(session, ("2024-05-01", "I work at Acme."), ("2024-05-09", "I used to work at Acme."))
    assert chosen(session, "Where do I work?") == []
    assert chosen(session, "Where did I work before?") == ["I work at Acme."]


def test_a_stay_for_a_while_is_no_new_home(session: Session):
    told(
        session,
        ("2024-05-01", "I live in Bedok."),
        ("2024-05-13", "I am living in Leeds until Friday."),
    )
    assert chosen(session, "Where do I live?") == ["I live in Bedok."]
    assert "I am living in Leeds until Friday (2024-05-17)." in chosen(
        session, "Where did I live last week?"
    )


def test_a_plan_waits_for_its_day(session: Session):
    told(
        session,
        ("2024-05-01", "I work at Acme."),
        ("2024-05-13", "From 1 June I work at Bolt."),
    )
    assert chosen(session, "Where do I work?") == ["I work at Acme."]
    assert "Bolt" in chosen(session, "Where will I work in June?")[0]
    assert "Bolt" in chosen(session, "Where do I work?", day("2024-06-03"))[0]


def test_the_boss_before_another(session: Session):
    told(
        session,
        ("2024-03-01", "My boss is Ms Ruiz."),
        ("2024-04-01", "My boss is Mr Tan."),
        ("2024-05-01", "My boss is Dr Okoye."),
    )
    assert chosen(session, "Who was my boss before Mr Tan?") == ["My boss is Ms Ruiz."]
    assert chosen(session, "Who was my boss before Dr Okoye?") == ["My boss is Mr Tan."]
    assert chosen(session, "Who is my boss?") == ["My boss is Dr Okoye."]


def test_the_time_may_be_told_by_another_memory(session: Session):
    told(
        session,
        ("2024-01-01", "I live in Oslo."),
        ("2024-01-02", "I work at Acme."),
        ("2024-03-01", "I moved to Bedok."),
        ("2024-04-01", "I work at Bolt."),
    )
    assert chosen(session, "Where did I work when I lived in Oslo?")[0] == "I work at Acme."


def test_an_answer_about_the_past_says_so(session: Session, scripted: ScriptedModel):
    told(session, ("2024-02-01", "I live in Oslo."), ("2024-03-15", "I live in Bedok."))
    there = Session(
        replace(session.config, fixed_now=NOW), session.graph, llm=scripted,
        embedder=session.embedder,
    )  # fmt: skip
    scripted.replies.append("You lived in Oslo.")
    reply = there.ask("Where did I live in February?")
    assert reply.text == "You lived in Oslo. (m1 held until 2024-03-15.)"
    assert reply.marks["m1"].standing == "replaced"
    assert "(True until 2024-03-15) I live in Oslo." in scripted.asked[-1][-1].content


def test_json_marks_what_no_longer_holds(memlane):
    memlane("--now", "2024-02-01", "remember", "I live in Oslo.")
    memlane("--now", "2024-03-15", "remember", "I live in Bedok.")
    asked = ("--now", "2024-05-20", "--json", "ask", "--no-llm")
    (old,) = memlane(*asked, "Where did I live before?").json["memories"]
    assert (old["standing"], old["until"][:10]) == ("replaced", "2024-03-15")
    assert old["from_inferred"] is True
    (new,) = memlane(*asked, "Where do I live?").json["memories"]
    assert (new["standing"], new["from"][:10], new["until"]) == ("holds", "2024-03-15", None)


def test_what_a_memory_says_of_times_is_read_once(
    session: Session, monkeypatch: pytest.MonkeyPatch
):
    read: list[str] = []
    telling_of = timeline.telling_of

    def noted(memory: Memory) -> timeline.Telling:
        read.append(memory.text)
        return telling_of(memory)

    monkeypatch.setattr(timeline, "telling_of", noted)
    told(session, ("2024-02-01", "I live in Oslo."), ("2024-02-02", "I have a cat called Miso."))
    assert chosen(session, "Where did I live in March?") == ["I live in Oslo."]
    assert chosen(session, "Where did I live in April?") == ["I live in Oslo."]
    assert sorted(read) == ["I have a cat called Miso.", "I live in Oslo."]
    told(session, ("2024-05-02", "I moved to Bedok."))
    assert chosen(session, "Where did I live in April?") == ["I live in Oslo."]
    # The new one, and the old one, which is marked replaced now.
    assert sorted(read[2:]) == ["I live in Oslo.", "I moved to Bedok."]
