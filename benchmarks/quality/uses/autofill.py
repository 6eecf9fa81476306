"""Autofill: does a field get the right key, does it stay empty when it must, is the value right?

Three sets. ``ddg_autofill_forms``: real web forms whose fields carry the kind of data that belongs
there; "unknown" and passwords must stay empty, against a profile that holds everything asked for
and secrets as bait. ``samples/autofill_own.json``: our own forms and profile, exact values.
Forms are split by a hash of their name: the vocabulary and rules were written looking at "seen"
forms (three in four) only. *lives*: forms in simulated lives (``autofill_lives``), with sentence
embeddings as the product has them. *day*: forms in free wording (``autofill_day``). No language
model is used.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from agent.applications.forms.autofill import fill
from agent.applications.forms.fields import FormField, Option
from agent.applications.forms.formats.open_form import (
    fields_from_csv_header,
    fields_from_html,
    fields_from_json_schema,
    fields_from_labels,
)
from agent.applications.forms.matching.match import match_fields
from agent.config import load_config
from agent.models.lazy import LocalEmbedder
from agent.ports import Embedder
from agent.results import FilledField
from agent.session.session import open_session
from benchmarks.quality.uses import autofill_day, autofill_lives
from benchmarks.shared.common import SAMPLES, parser, progress, write_results
from store.types import Memory

OWN = SAMPLES / "autofill_own.json"

# Their word for a kind of data -> our keys that mean it. A password is right when it is taken
# for any password: which one it is depends on the page, and none is ever filled.
PASSWORDS = ("current-password", "new-password")
KEYS_OF_GOLD: dict[str, tuple[str, ...]] = {
    "username": ("username",),
    "username OR emailAddress": ("username", "email"),
    "emailAddress": ("email",),
    "phone": ("tel", "tel-national"),
    "firstName": ("given-name",),
    "middleName": ("additional-name",),
    "lastName": ("family-name",),
    "fullName": ("name",),
    "addressStreet": ("address-line1", "street-address"),
    "addressStreet2": ("address-line2",),
    "addressCity": ("address-level2",),
    "addressProvince": ("address-level1",),
    "addressPostalCode": ("postal-code",),
    # Their country code includes the select of a phone number's country.
    "addressCountryCode": ("country", "tel-country-code"),
    "cardName": ("cc-name",),
    "cardNumber": ("cc-number",),
    "cardSecurityCode": ("cc-csc",),
    "expiration": ("cc-exp",),
    "expirationMonth": ("cc-exp-month",),
    "expirationYear": ("cc-exp-year",),
    "birthday": ("bday",),
    "birthdayDay": ("bday-day",),
    "birthdayMonth": ("bday-month",),
    "birthdayYear": ("bday-year",),
    "totp": ("one-time-code",),
    "password": PASSWORDS,
    "password.new": PASSWORDS,
    "password.current": PASSWORDS,
}
CLOSED = ("password", "password.new", "password.current", "cardSecurityCode", "totp")
# Kinds that the set has no word for, so that its "unknown" includes them: a company's name.
OUTSIDE_THEIR_VOCABULARY = frozenset(
    {"organization", "organization-title", "language", "sex", "url", "nickname"}
)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser("autofill", __doc__ or "")
    options.add_argument("--embedder", action="store_true", help="with sentence embeddings")
    options.add_argument("--mistakes", action="store_true", help="list them, seen forms only")
    options.set_defaults(seeds=5)
    given = options.parse_args(arguments)
    embedder = _embedder() if given.embedder else None
    own = json.loads(OWN.read_text("utf-8"))
    now = datetime.fromisoformat(own["now"])
    figures: dict[str, float | int | None] = {}
    figures.update(_own_forms(own, now, embedder, mistakes=given.mistakes))
    figures.update(autofill_day.figures(embedder, mistakes=given.mistakes))
    path = given.data / "ddg_autofill_forms" / "forms.jsonl"
    if path.exists():
        forms = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        profile = [
            Memory(f"p{i}", text, "Attribute", "attribute.contact", now)
            for i, text in enumerate(own["profile_for_public_forms"], 1)
        ]
        if given.quick:
            forms = forms[:40]
        figures.update(_public_forms(forms, profile, now, embedder, mistakes=given.mistakes))
    else:
        progress(f"{path} is not there: only our own forms were measured")
    seeds = 1 if given.quick else given.seeds
    with open_session(load_config()) as models:
        figures.update(autofill_lives.figures(models, seeds, show=given.mistakes))
    for name, figure in figures.items():
        progress(f"{name:44} {figure if figure is None else round(figure, 4)}")
    config = {
        "quick": given.quick,
        "embedder": embedder.identity if embedder else None,
        "llm": None,
    }
    write_results("autofill", config, list(range(seeds)), figures)


def _embedder() -> Embedder:
    return LocalEmbedder(load_config())


# --- real forms ---


@dataclass(slots=True)
class _Tally:
    """What one half of the forms came to."""

    right: Counter[str]
    asked: Counter[str]
    filled: Counter[str]
    unknown: int = 0
    unknown_filled: int = 0
    unknown_filled_outside: int = 0
    secrets: int = 0
    secrets_filled: int = 0


def _public_forms(
    forms: Iterable[Mapping[str, Any]],
    profile: Sequence[Memory],
    now: datetime,
    embedder: Embedder | None,
    *,
    mistakes: bool,
) -> dict[str, float | int | None]:
    tallies = {half: _Tally(Counter(), Counter(), Counter()) for half in ("seen", "unseen")}
    durations: list[float] = []
    for form in forms:
        half = "unseen" if is_unseen(form["form"]) else "seen"
        fields = fields_of(form["fields"])
        started = time.perf_counter()
        filled = fill(fields, profile, embedder=embedder, now=now)
        durations.append(time.perf_counter() - started)
        asked = match_fields(fields, embedder)
        for row, field, ask, result in zip(form["fields"], fields, asked, filled, strict=True):
            missed = _count(tallies[half], row.get("gold"), ask.key, result)
            if mistakes and missed and half == "seen":
                progress(f"{form['form'][:36]:36} {row.get('gold')} {ask.key} {field.name[:30]}")
    figures: dict[str, float | int | None] = {}
    both = _Tally(Counter(), Counter(), Counter())
    for tally in tallies.values():
        both.right += tally.right
        both.asked += tally.asked
        both.filled += tally.filled
        for name in ("unknown", "unknown_filled", "unknown_filled_outside"):
            setattr(both, name, getattr(both, name) + getattr(tally, name))
        both.secrets += tally.secrets
        both.secrets_filled += tally.secrets_filled
    for half, tally in (*tallies.items(), ("all", both)):
        figures.update({f"public_{half}_{k}": v for k, v in _summary(tally).items()})
    for gold, count in sorted(both.asked.items()):
        figures[f"public_key_{gold.replace(' ', '_')}_n"] = count
        figures[f"public_key_{gold.replace(' ', '_')}_right"] = both.right[gold] / count
    durations.sort()
    figures["public_median_ms_a_form"] = 1000 * durations[len(durations) // 2]
    figures["public_slowest_ms_a_form"] = 1000 * durations[-1]
    return figures


def is_unseen(name: str) -> bool:
    """Whether nothing was made by looking at the form of this name."""
    digest = sha256(name.encode()).digest()
    return bool(digest[0] % 2 and digest[1] % 2)


def _count(tally: _Tally, gold: str | None, key: str | None, result: FilledField) -> bool:
    """Count one field; whether it went wrong."""
    has_value = result.value is not None
    if gold is None:
        return False
    if gold == "unknown":
        tally.unknown += 1
        tally.unknown_filled += has_value
        tally.unknown_filled_outside += has_value and key in OUTSIDE_THEIR_VOCABULARY
        return has_value
    if gold in CLOSED:
        tally.secrets += 1
        tally.secrets_filled += has_value
    tally.asked[gold] += 1
    right = key in KEYS_OF_GOLD[gold]
    tally.right[gold] += right
    tally.filled[gold] += right and has_value
    return not right


def _summary(tally: _Tally) -> dict[str, float | int | None]:
    open_kinds = [gold for gold in tally.asked if gold not in CLOSED]
    asked = sum(tally.asked[g] for g in open_kinds)
    closed = tally.unknown + tally.secrets
    wrong = tally.unknown_filled + tally.secrets_filled
    return {
        "fields": sum(tally.asked.values()),
        "right_key": _share(sum(tally.right.values()), sum(tally.asked.values())),
        "right_key_without_secrets": _share(sum(tally.right[g] for g in open_kinds), asked),
        "filled_with_right_kind": _share(sum(tally.filled[g] for g in open_kinds), asked),
        "must_stay_empty": closed,
        "wrong_fills": _share(wrong, closed),
        "wrong_fills_of_their_kinds": _share(wrong - tally.unknown_filled_outside, closed),
        "secrets_filled": tally.secrets_filled,
        "unknown": tally.unknown,
        "unknown_filled": tally.unknown_filled,
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def fields_of(rows: Sequence[Mapping[str, Any]]) -> list[FormField]:
    """The set's rows as a page reader would have read them; see ``formats.html``."""
    before = [tuple(t for t in str(r.get("text_before", "")).split(" | ") if t) for r in rows]
    fields = []
    for i, row in enumerate(rows):
        length = str(row.get("maxlength", ""))
        fields.append(
            FormField(
                name=row.get("name") or row.get("id") or f"field{i + 1}",
                label=row.get("label", ""),
                type=(row.get("type") or "text").lower() if row["tag"] == "input" else row["tag"],
                autocomplete=row.get("autocomplete", ""),
                id=row.get("id", ""),
                placeholder=row.get("placeholder", ""),
                hint=row.get("aria_label", ""),
                text_before=before[i],
                text_after=_new_text(before[i], before[i + 1]) if i + 1 < len(rows) else (),
                options=tuple(Option(text, text) for text in row.get("options", ())),
                max_length=int(length) if length.isdigit() else None,
            )
        )
    return fields


def _new_text(before: tuple[str, ...], next_before: tuple[str, ...]) -> tuple[str, ...]:
    """What stands between two fields: the next one's text that this one has not passed yet."""
    for length in range(min(len(before), len(next_before)), 0, -1):
        if next_before[:length] == before[-length:]:
            return next_before[length:]
    return next_before


# --- our own forms ---


def _own_forms(
    own: Mapping[str, Any], now: datetime, embedder: Embedder | None, *, mistakes: bool
) -> dict[str, float | int | None]:
    memories = [
        Memory(m["id"], m["text"], m["subclass"].partition(".")[0], m["subclass"], now)
        for m in own["memories"]
    ]
    answerable = right = empty = invented = unsupported = 0
    for form in own["forms"]:
        for result in fill(_read(form), memories, embedder=embedder, now=now):
            expected = form["expected"].get(result.name)
            unsupported += result.value is not None and not result.memories
            if expected is None:
                empty += 1
                invented += result.value is not None
            else:
                answerable += 1
                right += result.value == expected and type(result.value) is type(expected)
            if mistakes and result.value != expected:
                progress(f"{form['name']:18} {result.name}: {result.value!r}, not {expected!r}")
    return {
        "own_forms": len(own["forms"]),
        "own_memories": len(memories),
        "own_answerable": answerable,
        "own_exact_match": _share(right, answerable),
        "own_unanswerable": empty,
        "own_wrong_fills": _share(invented, empty),
        "own_values_without_evidence": unsupported,
    }


def _read(form: Mapping[str, Any]) -> tuple[FormField, ...]:
    match form["kind"]:
        case "html":
            return fields_from_html(form["source"])
        case "json":
            return fields_from_json_schema(form["source"])
        case "csv":
            return fields_from_csv_header(form["source"])
        case _:
            return fields_from_labels(form["source"])


if __name__ == "__main__":
    main()
