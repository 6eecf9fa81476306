"""Fields that the language model fills: it copies, is checked, and yields to what is newer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from agent.applications.forms.autofill import fill
from agent.applications.forms.candidates import by_model
from agent.applications.forms.candidates.by_meaning import Heard
from agent.applications.forms.candidates.by_model import MOST
from agent.applications.forms.candidates.copy_prompts import CHECK
from agent.applications.forms.candidates.copying import Copy, place_of
from agent.applications.forms.fields import Asked, FormField
from agent.applications.forms.formats.open_form import fields_from_labels
from agent.memory.time.changed import Newer
from agent.ports import ChatTurn, Vectors
from agent.results import FilledField
from store.tables.side_tables.change_edges import ChangeKind
from store.tables.side_tables.form_consents import FormConsent
from store.types import Memory, Trust

NOW = datetime(2024, 5, 1, tzinfo=UTC)
SURELY, HARDLY = -0.05, -3.0


def near(labels: Sequence[str], most: int) -> list[list[Memory]]:
    """No memory is near any label."""
    return [[] for _ in labels]


def told(*texts: str) -> list[Memory]:
    return [
        Memory(f"m{i}", text, "Attribute", "attribute.contact", NOW + timedelta(minutes=i))
        for i, text in enumerate(texts, 1)
    ]


class NoKeys:
    """An encoder that finds every memory near, and no label near a key of the vocabulary."""

    identity = "no keys"
    dimension = 2

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows = [[0.6, 0.8] if "zz" in t.lower() else [1.0, 0.0] for t in texts]
        return np.array(rows, dtype=np.float32)


@dataclass
class Copying:
    """A language model that copies one value a label, and says yes or no to it."""

    copies: Mapping[str, str]
    score: float | None = SURELY
    verdict: str = "yes"
    identity: str = "copying"
    asked: list[str] = field(default_factory=list)

    def chat(
        self,
        turns: Sequence[ChatTurn],
        *,
        on_scores: Callable[[Sequence[float]], None] | None = None,
        **options: Any,
    ) -> str:
        last = turns[-1].content
        self.asked.append(last)
        if on_scores and self.score is not None:
            on_scores([SURELY if turns[0] == CHECK[0] else self.score])
        if turns[0] == CHECK[0]:
            return self.verdict
        label = last.rpartition("Field: ")[2]
        value = self.copies.get(label, "NONE")
        return value if value in last else "NONE"


def filled(labels: Sequence[str], memories: Sequence[Memory], llm: Copying, **options: Any):
    fields = fields_from_labels(labels)
    return fill(fields, memories, embedder=NoKeys(), llm=llm, now=NOW, **options)


REX = ("We gave the zz toy to Rex on 2024-06-01.",)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Rex", "Rex"),
        ("NONE", None),
        ("", None),
        ("Re", None),
        ("2024-06-01", "2024-06-01"),
    ],
)
def test_words_count_only_if_a_memory_holds_them(reply, value):
    (result,) = filled(["Zz owner"], told(*REX), Copying({"Zz owner": reply}))
    assert result.value == value
    assert result.memories == (("m1",) if value else ())


@pytest.mark.parametrize(
    "model",
    [
        Copying({"Zz owner": "Rex"}, score=HARDLY),
        Copying({"Zz owner": "Rex"}, verdict="no"),
        Copying({"Zz owner": "Rex"}, score=None),
    ],
    ids=["unlikely", "found wrong", "tells no probabilities"],
)
def test_an_unsure_copy_is_offered_and_not_filled_in(model):
    (result,) = filled(["Zz owner"], told(*REX), model)
    assert result.value is None
    assert [(one.value, one.memories) for one in result.alternatives] == [("Rex", ("m1",))]


def test_a_label_that_is_written_before_its_value_is_no_part_of_it():
    memories = told("zz owner Rex Lund, zz locker 4711, zz boat: Tern.")
    model = Copying({"Zz owner": "zz owner Rex Lund", "Zz boat": "zz boat: Tern"})
    owner, boat = filled(["Zz owner", "Zz boat"], memories, model)
    assert (owner.value, boat.value) == ("Rex Lund", "Tern")


def test_a_code_goes_into_one_field_of_a_form_only():
    memories = told("The zz card of the club is 55120.")
    model = Copying({"Zz club card": "55120", "Zz locker": "55120"})
    results = filled(["Zz club card", "Zz locker"], memories, model)
    assert [r.value for r in results].count("55120") == 1


def test_a_number_known_as_another_ones_is_not_filled_in():
    memories = told("My phone number is 0113 496 0022.", "The zz plumber comes on Monday.")
    model = Copying({"Zz plumber line": "0113 496 0022"})
    (result,) = filled(["Zz plumber line"], memories, model)
    assert result.value is None


def test_what_the_person_told_comes_before_what_a_program_stored_later():
    own, relayed = told("Zz locker is 4711.", "Locker of zz now 8822.")
    memories = [own, replace(relayed, trust=Trust.RELAYED)]
    model = Copying({"Zz locker": "4711"})
    (result,) = filled(["Zz locker"], memories, model)
    assert result.value == "4711"
    assert not any("8822" in asked for asked in model.asked)

    (result,) = filled(["Zz locker"], memories, Copying({"Zz locker": "8822"}))
    assert (result.value, result.memories) == ("8822", ("m2",))  # nothing told answers


def test_a_sensitive_value_is_not_even_offered_without_consent():
    model = Copying({"Zz blood medication": "ramipril"}, score=HARDLY)
    memories = told("The zz doctor gave me ramipril.")

    def refused(name: str, site: str) -> FormConsent:
        return FormConsent(name, site, given=None, at=None)

    (result,) = filled(["Zz blood medication"], memories, model, consents=refused)
    assert (result.value, result.alternatives) == (None, ())
    (result,) = filled(["Zz blood medication"], memories, model)
    assert [one.value for one in result.alternatives] == ["ramipril"]


def test_parts_of_a_name_come_from_the_name_that_the_model_copies():
    memories = told("hey, roshni desai again, zz")
    given, family = filled(["First name", "Last name"], memories, Copying(NAMES))
    assert (given.value, family.value) == ("roshni", "desai")


NAMES = {"Full name": "roshni desai", "First name": "roshni desai", "Last name": "roshni desai"}


def test_what_may_have_changed_a_memory_counts_if_it_has_a_value_for_the_field():
    old, new = told("The zz locker is 4711.", "Zz moved to 8822.")
    model = Copying({"Zz locker": "4711"})
    (result,) = filled(
        ["Zz locker"], [old], model, newer={"m1": [Newer(new, ChangeKind.SUPERSEDES, 0.4)]}
    )
    assert result.value == "4711"  # the newer one has none

    model.copies = {"Zz locker": "8822"}
    (result,) = filled(
        ["Locker"],
        told("My locker is 4711."),
        model,
        newer={"m1": [Newer(new, ChangeKind.SUPERSEDES, 0.4)]},
    )
    assert result.value == "4711"

    model.copies = {"Locker": "8822"}
    (result,) = filled(
        ["Locker"],
        told("My locker is 4711."),
        model,
        newer={"m1": [Newer(new, ChangeKind.SUPERSEDES, 0.4)]},
    )
    assert (result.value, result.memories) == ("8822", ("m2",))
    assert [one.value for one in result.alternatives] == ["4711"]


@pytest.mark.parametrize(
    ("chance", "value", "offered"), [(0.9, None, ["gate B", "gate A"]), (0.4, "gate A", [])]
)
def test_only_what_is_likelier_right_than_wrong_disputes_a_filled_value(
    monkeypatch: pytest.MonkeyPatch, chance: float, value: str | None, offered: list[str]
):
    bus, train = told("The zz bus is at gate A.", "The train is at gate B.")
    copy = Copy(Heard("gate B", train, chance), SURELY)
    monkeypatch.setattr(by_model, "copies", lambda form, results, copying: {0: copy})
    fields = fields_from_labels(["Zz gate"])
    asked = [Asked(None, question="Zz gate")]
    form = by_model.OpenForm(fields, asked, (), {}, {"m1": bus, "m2": train}, {})
    results = [FilledField("", "Zz gate", "gate A", 0.8, ("m1",))]
    by_model.fill_by_model(form, results, by_model.Copying(Copying({}), near, NoKeys()))
    assert results[0].value == value
    assert [str(one.value) for one in results[0].alternatives] == offered


def test_a_later_number_of_the_same_form_is_looked_at_without_any_edge():
    memories = told("My mobile number is 07700 900311.", "the old sim is dead, it's 07700 900877")
    model = Copying({"Mobile number": "07700 900877"})
    (result,) = filled(["Mobile number"], memories, model)
    assert (result.value, result.memories) == ("07700 900877", ("m2",))
    assert [one.value for one in result.alternatives] == ["07700 900311"]


def test_a_later_number_of_somebody_else_is_not_looked_at():
    memories = told("My mobile number is 07700 900311.", "My wife's phone number is 07700 900877.")
    model = Copying({"Mobile number": "07700 900877"})
    (result,) = filled(["Mobile number"], memories, model)
    assert result.value == "07700 900311"


def test_somebody_elses_number_does_not_hide_the_own_one_beside_it():
    later = "My wife's phone number is 07700 900877. the old sim is dead, it's 07700 900444 now"
    model = Copying({"Mobile number": "07700 900444"})
    memories = told("My mobile number is 07700 900311.", later)
    (result,) = filled(["Mobile number"], memories, model)
    assert result.value == "07700 900444"


def test_without_a_model_a_value_in_doubt_is_offered():
    (new,) = told("Zz moved to 8822.")
    fields = fields_from_labels(["Locker"])
    (result,) = fill(
        fields,
        told("My locker is 4711."),
        now=NOW,
        newer={"m1": [Newer(new, ChangeKind.SUPERSEDES, 0.4)]},
    )
    assert result.value is None
    assert [one.value for one in result.alternatives] == ["4711"]


def test_five_hundred_questions_ask_the_language_model_only_a_few_times():
    model = Copying({})
    fields = [FormField(f"f{i}", f"Zz number {i} colour") for i in range(500)]
    results = fill(fields, told(*REX), embedder=NoKeys(), llm=model, now=NOW)
    assert all(r.value is None for r in results)
    assert 0 < len(model.asked) <= MOST


@pytest.mark.parametrize(
    ("value", "text", "place"),
    [
        ("Rex", "to Rex.", (3, 6)),
        ("rex", "to T-Rexes and Rex", (15, 18)),
        ("Re", "to Rex", None),
        ("9", "", None),
    ],
)
def test_a_value_stands_in_a_text_as_whole_words(value, text, place):
    assert place_of(value, text) == place
