"""Forms of people who told their days in free wording, with and without the language model.

Each person's sentences are told one by one, a minute apart, to the product on an empty home; then
their forms are filled. The people of ``forms_people_held.toml`` were written by five writers who
saw no code, and nothing was learned or chosen by them; ``--files`` names others, from which the
weights that judge copies were learned (``copies_train``). *right* counts fields with the value that
belongs there, *wrong* those with any other value, among them fields that must stay empty; *offered*
empty fields that offer the right value.
"""

from __future__ import annotations

import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from agent.applications.forms.formats.open_form import fields_from_html
from agent.applications.forms.matching.match import match_fields
from agent.config import load_config
from agent.results import FilledField
from agent.session.session import Session, open_session
from benchmarks.shared.common import SAMPLES, parser, progress, write_results
from benchmarks.shared.simulated_lives.lives import at, fresh

LEARNED = ("forms_day", "forms_held", "forms_people")
HELD = ("forms_people_held",)
NOW = datetime.fromisoformat("2026-11-24T09:00:00+00:00")


def main(argv: Sequence[str] | None = None) -> None:
    options = parser("forms_told", __doc__ or "")
    options.add_argument("--no-llm", action="store_true", help="only the arm without the model")
    options.add_argument("--mistakes", action="store_true", help="print what is not right")
    options.add_argument("--people", nargs="*", help="only these")
    options.add_argument("--files", nargs="*", default=HELD, choices=(*HELD, *LEARNED))
    args = options.parse_args(argv)
    counts: dict[str, Counter[str]] = {}
    seconds: list[float] = []
    with open_session(load_config()) as models:
        for name in args.files:
            for who, person in people([name])[: 1 if args.quick else None]:
                if args.people and who not in args.people:
                    continue
                for arm in ("no_llm",) if args.no_llm or args.quick else ("no_llm", "llm"):
                    began = perf_counter()
                    found = filled(person, models, use_llm=arm == "llm")
                    if arm == "llm":
                        seconds.append((perf_counter() - began) / len(found))
                    counted = judged(person, found, f"{who} {arm}" if args.mistakes else "")
                    counts.setdefault(f"{name}_{arm}", Counter()).update(counted)
                    progress(f"{name} {who} {arm}: {dict(counted)}")
    figures: dict[str, float | int | None] = {
        f"{name}_{what}": number for name, found in counts.items() for what, number in found.items()
    }
    if seconds:
        figures["seconds_a_field"] = round(median(seconds), 2)
    write_results("forms_told", vars(args), (), figures)


def people(files: Iterable[str]) -> list[tuple[str, dict[str, Any]]]:
    """The people of some files of ``samples`` with their names."""
    read = [tomllib.loads((SAMPLES / f"{name}.toml").read_text("utf-8")) for name in files]
    return [one for file in read for one in file["people"].items()]


def answers(expected: str) -> list[str]:
    """The values that belong into a field, folded; none for one that must stay empty."""
    return [part.casefold() for part in expected.split("|") if part]


def filled(
    person: Mapping[str, Any], models: Session, *, use_llm: bool
) -> list[tuple[str, FilledField]]:
    """Every field of the person's forms with what belongs there, alternatives parted by "|"."""
    told = person["told"]
    with (
        tempfile.TemporaryDirectory() as folder,
        fresh(models, Path(folder)) as session,
    ):
        for number, text in enumerate(told):
            moment = NOW + timedelta(minutes=number - len(told))
            at(session, moment).remember(text, keep_secrets=True)
        found: list[FilledField] = []
        for form in person["forms"]:
            fields = fields_from_html(form)
            for field, asked in zip(fields, match_fields(fields, session.embedder), strict=True):
                session.graph.form_consents.put(asked.consent_name, field.site, given=True, at=NOW)
            found += at(session, NOW).fill(fields, use_llm=use_llm)
        return [(person["expected"][result.name], result) for result in found]


def judged(
    person: Mapping[str, Any], found: Sequence[tuple[str, FilledField]], who: str
) -> Counter[str]:
    """Counts over the fields; with ``who`` the mistakes are printed."""
    counts: Counter[str] = Counter()
    for expected, result in found:
        wanted = answers(expected)
        good = result.value is not None and str(result.value).casefold() in wanted
        offered = {str(one.value).casefold() for one in result.alternatives}
        counts["with_value"] += bool(wanted)
        counts["must_stay_empty"] += not wanted
        counts["right"] += good
        counts["wrong"] += result.value is not None and not good
        counts["offered"] += result.value is None and bool(offered & set(wanted))
        if who and not good and (wanted or result.value is not None):
            progress(f"{who:12} {result.label[:30]:32} {result.value!r}, not {expected!r}")
    return counts


if __name__ == "__main__":
    main()
