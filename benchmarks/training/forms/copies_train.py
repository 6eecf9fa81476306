"""Makes the weights that judge what the language model copies into forms (``field_notes``).

The people of ``samples/forms_day.toml``, ``forms_held.toml`` and ``forms_people.toml`` tell the
product what they told, and the model copies values for the fields of their forms that nothing else
fills. A logistic regression learns from what is known of each copy whether it is right. Figures
are of people left out in turn; ``python -m benchmarks.forms_told`` measures with other people.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from agent.applications.forms import autofill
from agent.applications.forms.candidates.by_meaning import as_written
from agent.applications.forms.candidates.by_model import Copying, OpenForm, copies
from agent.applications.forms.candidates.copying import RIGHT
from agent.applications.forms.candidates.field_notes import WEIGHTS, Signs
from agent.config import load_config
from agent.ports import Vectors
from agent.results import FilledField
from agent.session.session import Session, open_session
from benchmarks.quality.uses.forms_told import LEARNED, answers, filled, people
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers

THRESHOLDS = (0.5, 0.6, 0.7, 0.75, RIGHT, 0.85, 0.9)


def main(argv: Sequence[str] | None = None) -> None:
    options = parser("copies_train", __doc__ or "")
    options.add_argument("--kept", type=Path, help="file of copies; read where it is there")
    args = options.parse_args(argv)
    if args.kept is not None and args.kept.exists():
        rows = json.loads(args.kept.read_text("utf-8"))
    else:
        rows = _copies(args.quick)
        if args.kept is not None:
            args.kept.write_text(json.dumps(rows), "utf-8")
    who = np.array([row["who"] for row in rows])
    signs = np.array([row["signs"] for row in rows], np.float32)
    right = np.array([row["right"] for row in rows], bool)
    figures: dict[str, float | int | None] = {"copies": len(rows), "right": int(right.sum())}
    if not args.quick:
        chances = np.zeros(len(rows))
        for one in sorted(set(who)):
            mix = fit(signs[who != one], right[who != one])
            chances[who == one] = 1 / (1 + np.exp(-(signs[who == one] @ mix[:-1] + mix[-1])))
        figures["area"] = float(roc_auc_score(right, chances))
        for least in THRESHOLDS:
            figures[f"right_{least}"] = int((right & (chances >= least)).sum())
            figures[f"wrong_{least}"] = int((~right & (chances >= least)).sum())
        np.savez_compressed(WEIGHTS, mix=fit(signs, right))
        progress(f"wrote {WEIGHTS}; {figures}; filled in from {RIGHT}")
    write_results("copies_train", vars(args), (), figures)


def fit(signs: Vectors, right: Vectors) -> Vectors:
    """The weight of each sign and a bias, whose sum is the log-odds that a copy is right."""
    model = LogisticRegression(C=1.0, max_iter=1000).fit(signs, right)
    return np.array([*model.coef_[0], model.intercept_[0]], np.float32)


def _copies(quick: bool) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    if not WEIGHTS.exists():  # what is copied does not depend on them
        np.savez_compressed(WEIGHTS, mix=np.zeros(len(fields(Signs)) + 1, np.float32))
    with open_session(load_config()) as models:
        models.llm = KeptAnswers(models.llm)
        for who, person in people(LEARNED)[: 1 if quick else None]:
            found = _of_person(person, models)
            rows += [{"who": who, **row} for row in found]
            progress(f"{who}: {len(found)} copies, {sum(row['right'] for row in found)} right")
    return rows


def _of_person(person: Mapping[str, Any], models: Session) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def note(form: OpenForm, results: list[FilledField], copying: Copying) -> None:
        for n, copy in copies(form, results, copying).items():
            field = form.fields[n]
            value = as_written(copy.heard, field, form.asked[n], form.facts)
            if results[n].value is not None:
                continue  # filled already: what was copied only confirms or disputes that
            if copy.signs is not None and value is not None and value != "":
                wanted = answers(person["expected"][field.name])
                right = str(value).casefold() in wanted
                rows.append({"signs": astuple(copy.signs), "right": right})

    with patch.object(autofill, "fill_by_model", note):
        filled(person, models, use_llm=True)
    return rows


if __name__ == "__main__":
    main()
