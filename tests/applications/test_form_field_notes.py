"""Fields for which the language model reads memories as notes before it copies from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.applications.forms.autofill import fill
from agent.applications.forms.candidates.by_meaning import Heard
from agent.applications.forms.candidates.by_model import CERTAIN
from agent.applications.forms.candidates.copying import RIGHT, Copy
from agent.applications.forms.candidates.field_notes import (
    FieldReader,
    Signs,
    as_question,
    field_reader,
)
from agent.applications.forms.candidates.other_fields import judged_together
from agent.applications.forms.formats.open_form import fields_from_labels
from agent.errors import PromptTooLong
from agent.memory.time.changed import Newer
from store.tables.side_tables.change_edges import ChangeKind
from store.types import Memory, Trust
from tests.answering.test_notes_read_together import ScriptedNoteReader
from tests.applications.test_form_by_model import HARDLY, NOW, Copying, NoKeys, told
from tests.support.scripted_readers import ScriptedReader

OLD, NEW = "Back when Tern was zz, we sailed.", "Zz sailing aboard Heron since May."


def filled(
    labels: list[str], memories: list[Memory], llm: Copying, reader: Any, **options: Any
) -> Any:
    notes = FieldReader(reader, ScriptedReader(relevant=0.5))
    fields = fields_from_labels(labels)
    options |= {"embedder": NoKeys(), "llm": llm, "notes": lambda: notes}
    return fill(fields, memories, now=NOW, **options)


def test_the_value_is_copied_from_the_memories_that_the_field_is_about():
    model = Copying({"Zz boat": "Heron"})
    reader = ScriptedNoteReader(0.99, Heron=0.95, Tern=0.1)
    (result,) = filled(["Zz boat"], told(OLD, NEW), model, reader)
    assert (result.value, result.memories) == ("Heron", ("m2",))
    assert [question for question, _ in reader.asked] == ["What is my zz boat?"]
    assert all("Tern" not in asked for asked in model.asked)


@pytest.mark.parametrize(
    ("relevance", "answered", "score", "value"),
    [(0.95, 0.99, -0.05, "Heron"), (0.1, 0.1, -0.05, None), (0.95, 0.99, HARDLY, None)],
)
def test_relevance_and_the_models_own_score_decide(relevance, answered, score, value):
    model = Copying({"Zz boat": "Heron"}, score=score)
    reader = ScriptedNoteReader(answered, Heron=relevance)
    (result,) = filled(["Zz boat"], told(NEW), model, reader)
    assert result.value == value
    assert (value or result.alternatives[0].value) == "Heron"
    assert len(model.asked) == 2  # by two prompts; no question whether it is right


def test_where_what_was_told_is_doubtful_other_memories_are_read():
    own, noted = told(OLD, NEW)
    memories = [own, replace(noted, trust=Trust.NOTED)]
    model = Copying({"Zz boat": "Heron"})
    (result,) = filled(["Zz boat"], memories, model, ScriptedNoteReader(0.99, Heron=0.95))
    assert result.value == "Heron"

    model = Copying({"Zz boat": "Tern"})
    (result,) = filled(["Zz boat"], memories, model, ScriptedNoteReader(0.2, Tern=0.02))
    assert result.value is None
    assert [one.value for one in result.alternatives] == ["Tern"]


def test_where_hardly_any_memory_answers_nothing_is_copied():
    model = Copying({"Zz boat": "Tern"})
    (result,) = filled(["Zz boat"], told(OLD), model, ScriptedNoteReader(0.05, Tern=0.02))
    assert (result.value, result.alternatives, model.asked) == (None, (), [])


def test_what_others_say_takes_no_value_from_what_the_person_told():
    own, relayed = told("My vet is Dr Ahmed.", "It is Dr Lund whom I see for my health.")
    relayed = replace(relayed, trust=Trust.RELAYED)
    reader = ScriptedNoteReader(0.9, Ahmed=0.02, Lund=0.8)
    model = Copying({"Vet": "Dr Lund"})
    (result,) = filled(["Vet"], [own, relayed], model, reader)
    assert result.value == "Dr Ahmed"

    own, relayed = told(OLD, NEW)
    reader = ScriptedNoteReader(0.02, Tern=0.02)
    model = Copying({"Zz boat": "Tern"})
    (result,) = filled(["Zz boat"], [own, replace(relayed, trust=Trust.RELAYED)], model, reader)
    assert result.value is None
    assert all("Heron" not in asked for asked in model.asked)


def test_memories_too_long_to_be_read_together_are_copied_from_as_they_are():
    class TooLong(ScriptedNoteReader):
        def read(self, *_: Any) -> Any:
            raise PromptTooLong("too long")

    (result,) = filled(["Zz boat"], told(OLD), Copying({"Zz boat": "Tern"}), TooLong(0.9))
    assert result.value == "Tern"


def test_what_was_read_for_a_field_is_kept_until_a_memory_changes():
    reader: Any = ScriptedNoteReader(0.9)
    notes = FieldReader(reader, ScriptedReader(relevant=0.5))
    old, new = told(OLD, NEW)
    assert notes.read("Boat", [old]) is notes.read("Boat", [old])
    notes.read("Boat", [old, new])
    notes.read("Boat", [replace(old, text=NEW)])
    assert [len(texts) for _, texts in reader.asked] == [1, 2, 1]


def test_a_label_becomes_a_question_unless_it_is_one():
    assert as_question("Blood group, Health") == "What is my blood group, Health?"
    assert as_question("Who do we call? Emergency") == "Who do we call? Emergency"


def test_no_reader_where_the_model_has_no_hidden_states():
    assert field_reader(Copying({}), ScriptedReader()) is None


SURE = Signs(-0.1, -0.1, 2.0, 4.0, agrees=True)


def test_a_copy_is_likelier_right_the_surer_each_sign_is():
    low = Signs(-2.0, -2.0, -3.0, -3.0, agrees=False)
    assert low.chance < 0.5 < RIGHT < SURE.chance


@pytest.mark.parametrize(
    "signs",
    [replace(SURE, others=1, lead=-2.0), replace(SURE, others=3), replace(SURE, elsewhere=True)],
)
def test_words_that_other_fields_get_too_are_less_likely_right(signs):
    assert signs.chance < SURE.chance


def test_of_fields_with_the_same_words_the_one_that_they_are_most_relevant_to_leads():
    (memory,) = told("I have been a fitter at Vale Motors since May.")

    def copied(value: str, relevance: float) -> Copy:
        signs = replace(SURE, relevance=relevance)
        return Copy(Heard(value, memory, signs.chance), -0.1, signs)

    copies = {0: copied("Vale Motors", 2.0), 3: copied("vale motors", -0.5), 4: copied("May", 1.0)}
    written = {0: "Vale Motors", 3: "vale motors", 4: "2026-05"}
    judged = judged_together(copies, written, ["2026-05", "Ann Lee"])
    by_place = {n: copy.signs for n, copy in judged.items() if copy.signs}
    assert [(n, one.lead, one.others, one.elsewhere) for n, one in by_place.items()] == [
        (0, 2.5, 1, False),
        (3, -2.5, 1, False),
        (4, 0.0, 0, True),
    ]
    assert judged[0].heard.chance > judged[3].heard.chance
    unread = Copy(Heard("May", memory, 0.5), -0.1)
    assert judged_together({0: unread}, {0: "May"}, ["May"]) == {0: unread}


@pytest.mark.parametrize(("vet", "value"), [(0.02, None), (0.5, "Dr Ahmed")])
def test_a_value_whose_memory_the_field_is_hardly_about_is_offered(vet, value):
    memories = told("My vet is Dr Ahmed.", "It is Dr Lund whom I see for my health.")
    without = fill(fields_from_labels(["Vet"]), memories, now=NOW)
    reader = ScriptedNoteReader(0.9, Ahmed=vet, Lund=0.8)
    (result,) = filled(["Vet"], memories, Copying({}), reader)
    assert without[0].value == "Dr Ahmed" and without[0].confidence < CERTAIN
    assert result.value == value
    assert "Dr Ahmed" in (result.value, *(one.value for one in result.alternatives))


@pytest.mark.parametrize(
    ("copied", "value"), [("Dr Lund", None), ("Ahmed", "Dr Ahmed"), ("", "Dr Ahmed")]
)
def test_where_the_model_copies_something_else_both_are_offered(copied, value):
    memories = told("My vet is Dr Ahmed.", "It is Dr Lund whom I see for my health.")
    reader = ScriptedNoteReader(0.9, Ahmed=0.5, Lund=0.8)
    (result,) = filled(["Vet"], memories, Copying({"Vet": copied}), reader)
    assert result.value == value
    offered = [one.value for one in result.alternatives]
    assert offered == ([] if value else ["Dr Ahmed", "Dr Lund"])


@pytest.mark.parametrize(("relevance", "value"), [(0.8, "Heron"), (0.1, "Acme")])
def test_a_newer_memory_casts_doubt_only_where_the_field_is_about_it(relevance: float, value: str):
    old, new = told("I work at Acme.", "I crew for Heron Lines now.")
    reader = ScriptedNoteReader(0.9, Acme=0.7, Heron=relevance)
    newer = {old.id: (Newer(new, ChangeKind.SUPERSEDES, 0.9),)}
    model = Copying({"Employer": "Heron"})
    (result,) = filled(["Employer"], [old, new], model, reader, newer=newer)
    offered = [one.value for one in result.alternatives]
    assert value in (result.value, *offered[:1])
    assert (result.value == "Acme") is (value == "Acme")
