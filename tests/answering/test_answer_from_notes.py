"""Answers from notes: what holds, and a quotation where the model's sentence may fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.answering.notes.answer import answer_from_notes
from agent.answering.notes.gather import Note
from agent.answering.notes.prompt import build_turns
from agent.memory.passages import Passage
from store.tables.side_tables.change_edges import ChangeKind
from store.types import Memory, Status, Trust
from tests.conftest import ScriptedModel

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


def notes_of(*texts: str, changed: float = 0.0, kind: ChangeKind = ChangeKind.SUPERSEDES):
    """Notes of a relevance of 0.9; the first may have been changed by the last."""
    made = []
    for n, text in enumerate(texts, 1):
        said = NOW + timedelta(days=n)
        memory = Memory(f"m{n}", text, "Attribute", "attribute.occupation", said)
        made.append(Note(memory, Passage(text, said, text, (f"s{n}", 0)), 0.9))
    made[0] = replace(made[0], changed=changed, by=f"m{len(texts)}", change=kind)
    return made


def ask(said: str, notes: Sequence[Note]):
    model = ScriptedModel([said])
    return answer_from_notes("Where do I work?", notes, now=NOW, llm=model), model


KINDLING, REDFORD = "I work at Kindling.", "End of week one at Redford, my feet hurt."


def test_what_was_probably_changed_is_not_shown_to_the_model():
    told, model = ask("You work at Redford.", notes_of(KINDLING, REDFORD, changed=0.8))
    assert "Kindling" not in model.asked[0][-1].content
    assert told.text.startswith("You work at Redford.")
    assert [choice.memory.id for choice in told.evidence] == ["m2"]


def test_a_model_without_an_answer_is_replaced_by_the_notes_themselves():
    told, _ = ask("I don't know.", notes_of(KINDLING, REDFORD, changed=0.8))
    assert told.text == f"On 2024-05-10 you said: “{REDFORD}”"
    assert not told.abstained


@pytest.mark.parametrize(("verdict", "quoted"), [("yes", True), ("no", False)])
def test_a_note_that_the_question_hardly_needs_is_quoted_only_if_the_model_agrees(verdict, quoted):
    notes = [replace(note, relevance=0.5) for note in notes_of(REDFORD)]
    model = ScriptedModel(["I don't know.", verdict])
    model.score = -0.1
    told = answer_from_notes("Where do I work?", notes, now=NOW, llm=model)
    assert told.abstained is not quoted


def test_a_model_that_tells_no_probabilities_takes_no_quotation_away():
    notes = [replace(note, relevance=0.5) for note in notes_of(REDFORD)]
    model = ScriptedModel(["I don't know.", "no"])
    told = answer_from_notes("Where do I work?", notes, now=NOW, llm=model)
    assert REDFORD in told.text


@pytest.mark.parametrize(
    ("relevance", "answered", "claimed"), [(0.6, 0.8, True), (0.4, 0.95, True), (0.4, 0.8, False)]
)
def test_where_the_model_finds_no_answer_and_none_is_likely_the_nearest_note_is_no_claim(
    relevance, answered, claimed
):
    read = replace(notes_of(REDFORD)[0], together=True, relevance=relevance, answered=answered)
    told, _ = ask("I don't know.", [read])
    assert told.abstained is not claimed and REDFORD in told.text
    assert told.text.startswith("On 2024-05-09 you said" if claimed else "I am not sure that")


def test_an_invented_name_is_no_answer():
    told, _ = ask("You work at Costa.", notes_of(KINDLING, REDFORD, changed=0.8))
    assert "Costa" not in told.text and REDFORD in told.text


def test_todays_date_is_no_answer_unless_a_note_tells_it():
    moved = "The move is on the 21st."
    told, _ = ask("You move on Wednesday 2024-05-08.", notes_of(moved))
    assert told.text == f"On 2024-05-09 you said: “{moved}”"
    told, _ = ask("You start on Friday 2024-05-10.", notes_of("I start tomorrow."))
    quoted = "On 2024-05-09 you said: “I start tomorrow.”"
    assert told.text == f"You start on Friday 2024-05-10.\n{quoted}"


def test_the_midnight_after_a_day_is_another_day():
    moved = "The physio can do Tuesday the 21st."
    told, _ = ask("Your physio is on Wednesday 2024-05-22.", notes_of(moved))
    assert told.text == f"On 2024-05-09 you said: “{moved}”"
    told, _ = ask("You are at the fair on 2024-05-21.", notes_of("At the fair from 18 to 21 May."))
    quoted = "On 2024-05-09 you said: “At the fair from 18 to 21 May.”"
    assert told.text == f"You are at the fair on 2024-05-21.\n{quoted}"


def test_a_note_that_is_not_sure_does_not_overtake_what_the_model_found():
    first, later = notes_of("Work is the mill, gate 4.", "Long day at the dentist.")
    read = [
        replace(first, together=True, relevance=0.08),
        replace(later, together=True, relevance=0.3),
    ]
    told, _ = ask("You work at the mill.", read)
    assert told.text.startswith("You work at the mill.")


def test_what_the_sentence_has_replaced_is_not_quoted_beside_it():
    older, newer = notes_of(KINDLING, REDFORD, changed=0.4)
    read = [replace(older, together=True), replace(newer, together=True)]
    told, _ = ask("You work at Redford.", read)
    assert told.text == f"You work at Redford.\nOn 2024-05-10 you said: “{REDFORD}”"


def test_what_changed_a_part_of_a_line_may_have_changed_the_rest_of_it():
    line = "I work at Kindling. Nice people."
    older, beside, newer = notes_of(line, line, REDFORD, changed=0.8)
    beside = replace(
        beside, memory=replace(beside.memory, text="Nice people."), passage=older.passage
    )
    told, _ = ask("You work at Kindling.", [older, beside, newer])
    assert told.text == f"On 2024-05-11 you said: “{REDFORD}”"


def test_the_words_that_a_sentence_rests_on_stand_beside_it_without_the_rest_of_their_message():
    notes = of_one_message("Ines starts at Redford, I stay at the mill.", SOLD)
    told, _ = ask("You work at Redford.", notes)
    quoted = "On 2024-05-17 you said: “Ines starts at Redford, I stay at the mill.”"
    assert told.text == f"You work at Redford.\n{quoted}"


def test_words_that_say_no_more_than_the_sentence_are_not_quoted_beside_it():
    told, _ = ask("You work at Kindling.", notes_of(KINDLING))
    assert told.text == "You work at Kindling."


def test_a_line_of_a_file_is_not_quoted_beside_a_sentence():
    (line,) = notes_of("Clients, Redford: I work there on Mondays, never for Ines.")
    noted = replace(line, memory=replace(line.memory, trust=Trust.NOTED))
    assert ask("You work at Redford.", [noted])[0].text == "You work at Redford."


def test_a_note_of_which_a_part_has_changed_is_not_quoted_beside_a_sentence():
    older, newer = notes_of("Yoga is on Mondays in the small Hall 2.", "We use the barn now.")
    told, _ = ask("Yoga is in the barn on Mondays.", [replace(older, refined="m2"), newer])
    assert "Hall 2" not in told.text


@pytest.mark.parametrize(
    ("said", "quoted"), [("You work at Redford.", False), ("You work there.", True)]
)
def test_words_that_name_what_they_changed_are_quoted_only_beside_an_empty_sentence(said, quoted):
    older, newer = notes_of(KINDLING, "Left Kindling, Redford has me from now on.", changed=0.8)
    told, _ = ask(said, [older, replace(newer, changes=older.passage)])
    assert ("Left Kindling" in told.text) is quoted


def test_words_that_may_have_changed_something_are_quoted_all_the_same():
    older, newer = notes_of("I drive a Jazz.", "Gave 640 for a Jazz, from Ines.", changed=0.35)
    told, _ = ask("You gave Ines.", [older, replace(newer, changes=older.passage)])
    assert "Gave 640 for a Jazz" in told.text


@pytest.mark.parametrize(("relevance", "overtaken"), [(0.15, True), (0.85, True), (0.95, False)])
def test_a_sentence_gives_way_to_a_later_note_that_answers_more_surely(relevance, overtaken):
    older, newer = [replace(note, together=True) for note in notes_of(KINDLING, REDFORD)]
    told, _ = ask("You work at Kindling.", [replace(older, by="", relevance=relevance), newer])
    assert told.text.startswith("On 2024-05-10 you said" if overtaken else "You work at Kindling.")


def test_where_it_is_a_toss_up_both_are_told_and_nothing_is_claimed():
    older, newer = notes_of(KINDLING, REDFORD, changed=0.4)
    told, _ = ask("You work at Kindling.", [older, replace(newer, relevance=0.4)])
    assert KINDLING in told.text and REDFORD in told.text
    assert "You work" not in told.text and "not sure" in told.text


def test_a_newer_note_that_the_question_is_about_as_much_is_the_answer():
    told, _ = ask("You work at Kindling.", notes_of(KINDLING, REDFORD, changed=0.4))
    assert told.text == f"On 2024-05-10 you said: “{REDFORD}”"


def test_what_changed_a_part_of_a_note_is_told_beside_the_rest_of_it():
    older, newer = notes_of("Yoga is on Mondays in Hall 2.", "Hall 2 floods, so we use the barn.")
    told, _ = ask("Yoga is in Hall 2 on Mondays.", [replace(older, refined="m2"), newer])
    assert "Mondays in Hall 2" in told.text and "we use the barn" in told.text

    told, _ = ask("Yoga is in the barn on Mondays.", [replace(older, refined="m2"), newer])
    assert told.text == "Yoga is in the barn on Mondays."


@pytest.mark.parametrize(("relevance", "told_too"), [(0.8, True), (0.6, False)])
def test_what_is_surely_an_answer_too_is_told_beside_the_sentence(relevance, told_too):
    first, second = notes_of("I volunteer at the food bank.", "Sold raffle tickets for the band.")
    read = [replace(first, together=True), replace(second, together=True, relevance=relevance)]
    told, _ = ask("You volunteer at the food bank.", read)
    assert told.text.startswith("You volunteer at the food bank.")
    assert ("raffle" in told.text) is told_too


def test_a_sentence_rests_on_the_note_with_its_value_not_on_that_with_the_words_of_the_question():
    notes = notes_of("Quill & Tar pays me 640.", "The contract says 460.")
    model = ScriptedModel(["Quill & Tar pays you 460."])
    told = answer_from_notes("What does Quill & Tar pay me?", notes, now=NOW, llm=model)
    quoted = "On 2024-05-10 you said: “The contract says 460.”"
    assert told.text == f"Quill & Tar pays you 460.\n{quoted}"


def test_an_ended_fact_is_not_confirmed():
    notes = notes_of("I have driving lessons.", "That was that, the car is sold.", changed=0.9,
                     kind=ChangeKind.ENDS)  # fmt: skip
    told, _ = ask("Yes, you still have driving lessons.", notes)
    assert told.text.startswith("No longer.")


def test_without_notes_the_model_is_not_asked():
    model = ScriptedModel()
    told = answer_from_notes("How old is Noor?", (), now=NOW, llm=model)
    assert told.abstained and model.asked == []


def test_an_irrelevant_note_is_not_quoted():
    notes = [replace(note, relevance=0.1) for note in notes_of(KINDLING)]
    told, _ = ask("I don't know.", notes)
    assert told.abstained


def test_examples_in_english_do_not_stand_before_a_chinese_question():
    notes = notes_of("我在蓝鲸科技上班。")
    assert len(build_turns("我在哪家公司上班？", notes, NOW)) == 2


@pytest.mark.parametrize(
    ("said", "stands"),
    [("You work at the garden centre in Kassel.", False), ("Du arbeitest im Gartencenter.", True)],
)
def test_a_sentence_in_another_language_than_the_question_does_not_stand(said, stands):
    notes = notes_of("Gestern war mein erster Tag im Gartencenter in Kassel.")
    model = ScriptedModel([said])
    told = answer_from_notes("Wo arbeite ich jetzt gerade?", notes, now=NOW, llm=model)
    assert told.text.startswith(said) == stands and "Gartencenter" in told.text


def test_a_note_that_was_read_together_with_the_newer_one_holds():
    older, newer = notes_of(KINDLING, REDFORD, changed=0.3)
    read = [replace(older, together=True), replace(newer, relevance=0.1, together=True)]
    told, _ = ask("You work at Kindling.", read)
    assert told.text == "You work at Kindling."
    told, _ = ask("You work at Kindling.", [read[0], replace(read[1], relevance=0.8)])
    assert "Redford" in told.text and "Kindling" not in told.text


def test_of_a_question_about_the_past_what_was_replaced_is_a_note():
    older, newer = notes_of(KINDLING, REDFORD)
    gone = replace(older, memory=replace(older.memory, status=Status.REPLACED))
    model = ScriptedModel(["You worked at Kindling."])
    told = answer_from_notes(
        "Where did I work before?", [gone, newer], now=NOW, llm=model, past=True
    )
    assert "Kindling" in model.asked[0][-1].content
    assert [choice.memory.id for choice in told.evidence] == ["m1"]


# ---- a message of several sentences ----------------------------------------------------------

LAST, SOLD = "That was my last cello lesson.", "A student has bought the instrument."


def of_one_message(*units: str) -> list[Note]:
    """A memory for each sentence of one message."""
    whole, said = " ".join(units), NOW + timedelta(days=9)
    return [
        Note(
            Memory(f"m{n}", unit, "Attribute", "attribute.occupation", said),
            Passage(whole, said, whole, ("s9", 0), unit),
            0.9 - n / 100,
        )
        for n, unit in enumerate(units, 2)
    ]


def test_the_sentence_that_answers_is_quoted_with_the_whole_of_a_short_message():
    told, _ = ask("I don't know.", of_one_message(LAST, SOLD)[:1])
    assert told.text == f"On 2024-05-17 you said: “{LAST} {SOLD}”"


def test_sentences_of_one_message_are_quoted_together():
    told, _ = ask("I don't know.", of_one_message(LAST, SOLD))
    assert told.text == f"On 2024-05-17 you said: “{LAST} {SOLD}”"


def test_what_another_sentence_of_the_message_has_ended_is_over():
    older = replace(notes_of("Cello is on Wednesdays.")[0], changed=0.9, by="m2",
                    change=ChangeKind.ENDS)  # fmt: skip
    ending, beside = of_one_message(LAST, SOLD)
    told, _ = ask("I don't know.", [older, replace(ending, relevance=0.7), beside])
    assert told.text.startswith("No longer.")


def test_a_sentence_that_says_what_the_message_says_stands():
    notes = [*notes_of("I work at Kindling."), *of_one_message("Redford too now.", "Long day.")[1:]]
    told, _ = ask("You work at Kindling and Redford.", notes)
    assert told.text == "You work at Kindling and Redford."


def test_a_note_that_was_hardly_changed_is_quoted_beside_the_newer_one():
    notes = [replace(note, relevance=0.9) for note in notes_of(KINDLING, REDFORD, changed=0.11)]
    told, _ = ask("I don't know.", notes)
    assert KINDLING in told.text and REDFORD in told.text


def test_what_has_ended_is_no_answer_where_something_that_holds_may_be_one():
    past, holding = notes_of(KINDLING, REDFORD)
    told, _ = ask("You work at Redford.", [replace(past, over=True), holding])
    assert told.text == f"You work at Redford.\nOn 2024-05-10 you said: “{REDFORD}”"
    told, _ = ask("unused", [replace(past, over=True), replace(holding, relevance=0.1)])
    assert told.text == f"No longer. On 2024-05-09 you said: “{KINDLING}”"


def test_what_was_changed_is_not_shown_by_another_sentence_of_its_message():
    declared, stamped = of_one_message("I study geology.", "They stamped my form.")
    (newer,) = notes_of("I am down as a linguist.")
    notes = [replace(declared, changed=0.9, by="m1"), stamped, newer]
    _, model = ask("You study linguistics.", notes)
    assert "stamped" in model.asked[0][-1].content
    assert "geology" not in model.asked[0][-1].content
