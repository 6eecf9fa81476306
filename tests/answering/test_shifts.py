"""Shifts of earlier dates and times: the model says by how much, code computes the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.answering.notes.answer import answer_from_notes
from agent.answering.notes.gather import Note
from agent.answering.notes.shifts import shifted
from agent.memory.passages import Passage
from store.tables.side_tables.change_edges import ChangeKind
from store.types import Memory, Status, Trust
from tests.conftest import ScriptedModel

SAID = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("older", "newer", "amount", "result"),
    [
        ("The plumber comes at 14:00.", "He is an hour behind.", "later 1 hour", "15:00"),
        ("My shift starts at 7:30.", "I begin 45 minutes later.", "later 45 minutes", "8:15"),
        (
            "The recital is on 12 March.", "They gave it two more weeks.", "later 2 weeks",
            "Thursday 26 March 2026",
        ),
        (
            "The boat leaves on 12 March at 23:30.", "We cast off two hours late.",
            "later 2 hours", "Friday 13 March 2026 01:30",
        ),
        (
            "The lesson is on Friday 6 March at 18:15.", "She pulled it forward by two days.",
            "earlier 2 days", "Wednesday 4 March 2026 18:15",
        ),
        ("The rent is due until 20 March.", "We got ten days on top.", "later 10 days",
         "Monday 30 March 2026"),
    ],
)  # fmt: skip
def test_the_amount_is_added_by_code(older: str, newer: str, amount: str, result: str):
    assert shifted(older, SAID, newer, ScriptedModel([amount])) == result


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ana teaches me.", "She was an hour late."),  # nothing to move
        ("My talk is on 4 June.", "They have moved it, nobody says to when."),  # no amount
    ],
)
def test_without_a_time_or_an_amount_the_model_is_not_asked(older: str, newer: str):
    model = ScriptedModel()
    assert shifted(older, SAID, newer, model) == "" and model.asked == []


@pytest.mark.parametrize(
    ("older", "newer", "result"),
    [
        ("Dr Abara sees me on 12 March at 16:20.", "Sorry, the dentist is at 16:40.",
         "Thursday 12 March 2026 16:40; before, “Dr Abara sees me on …”"),
        ("The plumber comes on Tuesday at 14:00.", "It's quarter to five actually.",
         "Tuesday 3 March 2026 4:45; before, “The plumber comes on …”"),  # am or pm?
        ("The gala is on 12 March at 8:00.", "The gala is at 9:00 now.",
         "Thursday 12 March 2026 9:00; before, “The gala is on …”"),  # said at nine
        ("Lunch with Bo is on 12 March at 12:00.", "I meet Kim at 13:00.",
         "Thursday 12 March 2026 13:00; before, “Lunch with Bo is on …”"),
        ("The recital is on 12 March.", "Doors open at 17:00.", ""),  # no time has changed
        ("Choir is on Mondays at 19:00.", "Choir is at 20:00 now.", ""),  # no one day
        ("The boat leaves on 12 March at 9:00.", "It leaves on the 13th at 10:00.", ""),
        ("The boat leaves on 12 March at 9:00.", "It leaves at 10:00 and lands at 12:00.", ""),
    ],
)  # fmt: skip
def test_a_new_time_of_day_is_on_the_earlier_day(older: str, newer: str, result: str):
    assert shifted(older, SAID, newer, ScriptedModel()) == result
    assert shifted(older, SAID, newer, ScriptedModel(), replaces=False) == ""


def test_now_is_no_new_time():
    newer = "She starts two hours later from now on."
    assert shifted("Class is at 14:00.", SAID, newer, ScriptedModel(["later 2 hours"])) == "16:00"


def test_now_is_no_time_that_is_moved():
    model = ScriptedModel()
    told = "Listen to this now, they have changed the rota."
    assert shifted(told, SAID, "The new rota lasted three weeks.", model) == ""
    assert model.asked == []


def test_a_new_time_that_is_given_is_not_computed():
    newer = "It takes two hours and starts at 16:00 now."
    assert shifted("Class is at 14:00.", SAID, newer, ScriptedModel(["later 2 hours"])) == ""


BEHIND = ("The plumber comes at 14:00.", "He is an hour behind, he says.")


def moved_notes(texts: Sequence[str] = BEHIND) -> list[Note]:
    made = []
    for n, text in enumerate(texts, 1):
        said = SAID + timedelta(hours=n)
        memory = Memory(f"m{n}", text, "Event", "event.other", said)
        made.append(Note(memory, Passage(text, said, text, (f"s{n}", 0)), 0.9))
    made[0] = replace(made[0], changed=0.9, by="m2", change=ChangeKind.SUPERSEDES)
    made[1] = replace(made[1], changes=made[0].passage)
    return made


def test_an_answer_with_another_time_gives_way_to_the_computed_one():
    model = ScriptedModel(["later 1 hour", "The plumber comes at 14:00."])
    told = answer_from_notes("When is the plumber here?", moved_notes(), now=SAID, llm=model)
    assert told.text.endswith("“He is an hour behind, he says.” That makes it 15:00.")
    assert "(that makes it 15:00)" in model.asked[-1][-1].content


def test_an_answer_with_the_computed_time_stands_beside_the_words_that_moved_it():
    model = ScriptedModel(["later 1 hour", "The plumber comes at 15:00."])
    told = answer_from_notes("When is the plumber here?", moved_notes(), now=SAID, llm=model)
    moved = "On 2026-03-02 you said: “He is an hour behind, he says.” That makes it 15:00."
    assert told.text == f"The plumber comes at 15:00.\n{moved}"


CORRECTED = ("Dr Abara is my dentist, on 12 March at 16:20.", "Sorry, the dentist is at 16:40.")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When is my dentist?", "Your dentist is on Thursday 12 March at 16:40."),
        ("Who is my dentist?", "Your dentist is Dr Abara."),
    ],
)
def test_what_a_new_time_does_not_change_is_told(question: str, said: str):
    model = ScriptedModel([said])
    told = answer_from_notes(question, moved_notes(CORRECTED), now=SAID, llm=model)
    assert told.text.startswith(said)
    now = "(that makes it Thursday 12 March 2026 16:40; before, “Dr Abara is my dentist, on …”)"
    assert now in model.asked[-1][-1].content


@pytest.mark.parametrize("said", ["Your dentist is at 16:40.", "Dr Abara is at 16:40."])
def test_an_answer_with_the_new_time_alone_gets_the_day(said: str):
    told = answer_from_notes(
        "When is my dentist?", moved_notes(CORRECTED), now=SAID, llm=ScriptedModel([said])
    )
    assert "Thursday 12 March 2026 16:40" in told.text and not told.text.startswith(said)


def test_a_time_beside_what_may_still_hold_gets_no_day():
    notes = moved_notes(("The dentist is on 12 March at 16:20.", "The hairdresser is at 16:40."))
    notes[0] = replace(notes[0], changed=0.4)
    model = ScriptedModel(["Your dentist is on 12 March at 16:20."])
    answer_from_notes("When is my dentist?", notes, now=SAID, llm=model)
    assert "that makes it" not in model.asked[-1][-1].content


def test_an_answer_that_only_names_what_was_changed_is_no_answer():
    older, newer = moved_notes()
    words = ("I am learning Portuguese.", "Dropped Portuguese, Korean it is.")
    notes = [
        replace(
            note,
            memory=replace(note.memory, text=text),
            passage=Passage(text, note.passage.said, text, note.passage.place),
        )
        for note, text in zip((older, newer), words, strict=True)
    ]
    notes[1] = replace(notes[1], changes=notes[0].passage)
    # The one that was replaced is known to the check and shown to nobody.
    notes[0] = replace(
        notes[0], changed=1.0, memory=replace(notes[0].memory, status=Status.REPLACED)
    )
    model = ScriptedModel(["You are learning Portuguese."])
    told = answer_from_notes("Which language am I learning?", notes, now=SAID, llm=model)
    assert "Korean" in told.text and "You are learning" not in told.text


CHOIR = "Choir is on Mondays in the mill."


@pytest.mark.parametrize(
    ("newest", "trust", "brings_back"),
    [
        ("Choir is back to its old evening.", Trust.TOLD, True),
        ("Choir is back to its old evening.", Trust.READ, False),  # somebody else's words
        ("Choir is on Fridays now.", Trust.TOLD, False),
    ],
)
def test_what_a_note_brings_back_stands_beside_it(newest: str, trust: Trust, brings_back: bool):
    texts = (CHOIR, "They moved choir to Thursdays.", newest)
    notes = moved_notes(texts)
    notes[0] = replace(notes[0], memory=replace(notes[0].memory, trust=trust))
    for older, by in ((0, "m2"), (1, "m3")):
        notes[older] = replace(notes[older], changed=0.9, by=by, change=ChangeKind.SUPERSEDES)
    notes[2] = replace(notes[2], changes=notes[1].passage)
    model = ScriptedModel(["I don't know."])
    told = answer_from_notes("When is choir?", notes, now=SAID, llm=model)
    assert (f"(before that: {CHOIR})" in model.asked[-1][-1].content) is brings_back
    assert (f"Before that, on 2026-03-02: “{CHOIR}”" in told.text) is brings_back
    assert "Thursdays" not in told.text


def test_what_ends_another_note_moves_nothing():
    notes = moved_notes(("The rota begins on 12 March.", "That rota lasted three weeks, no more."))
    notes[0] = replace(notes[0], change=ChangeKind.ENDS)
    model = ScriptedModel(["There is none."])
    answer_from_notes("Which rota is it?", notes, now=SAID, llm=model)
    assert len(model.asked) == 1 and "that makes it" not in model.asked[0][-1].content


def test_a_wrong_name_is_not_shown_beside_what_corrects_it():
    texts = ("Theo's girl is Saskia, she is four.", "Ach, wrong family. Theo's girl is Milou.")
    older, newer = moved_notes(texts)
    newer = replace(newer, passage=replace(newer.passage, about=texts[0]))
    model = ScriptedModel(["Theo's girl is Saskia."])
    told = answer_from_notes("What's Theo's girl called?", [older, newer], now=SAID, llm=model)
    assert "Saskia" not in model.asked[-1][-1].content and "Milou" in told.text
