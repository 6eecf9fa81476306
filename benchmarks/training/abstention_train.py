"""Makes the judge of ``policies/abstain.py``: ``python -m benchmarks.abstention_train``.

Invariant: it learns from lives of the training bank and from our own samples alone; what
``benchmarks.abstention`` reports on is never seen here. A logistic regression over the signs, the
homes weighted alike, with the threshold at which expected cost is even: keeping silent though
memory holds the answer costs ``SILENCE`` times as much as looking further, because the answer is
checked again (the model may not know, and ``agent.answering.grounding`` withholds what nothing
supports). Prints how well calibrated it is on homes that were held out of the fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from agent.config import DEFAULT_POLICY, load_config
from agent.session.session import Session, open_session
from benchmarks.quality.answers.abstention_cases import Case, life_cases, own_cases
from benchmarks.shared.common import parser, progress
from benchmarks.shared.simulated_lives.lives_train import BANK
from policies.abstain import WEIGHTS, AbstentionJudge, SelectionSigns

SILENCE = 9.0
"""What wrongly keeping silent costs, in needless looks. It was 4 at first; at that, two of 245
questions of simulated lives whose answer was found before went unanswered."""
LIVES = 10
POLICIES = tuple(dict.fromkeys(("top-k", "fused", DEFAULT_POLICY)))
"""Whose selections it is fitted to: what people have, and what walks begin with."""
FOLDS = 5


def cases(models: Session, lives: int, policies: Sequence[str]) -> list[Case]:
    """Everything that may be learned from; what is exact or empty is decided already."""
    found = list(own_cases(models, policies))
    for seed in range(lives):
        progress(f"life {seed}")
        found += life_cases(BANK, seed, models, policies)
    return [case for case in found if case.signs is not None]


def fit(rows: Sequence[Case], encoder: str) -> AbstentionJudge:
    """The judge of these cases, its weights on the signs as they are."""
    inputs, labels, weights = _arrays(rows)
    scaler = StandardScaler().fit(inputs, sample_weight=weights)
    model = LogisticRegression(C=1.0, max_iter=1000)
    model.fit(scaler.transform(inputs), labels, sample_weight=weights)
    own = model.coef_[0] / scaler.scale_
    bias = float(model.intercept_[0] - own @ scaler.mean_)
    return AbstentionJudge(
        round(bias, 4),
        tuple(round(float(weight), 4) for weight in own),
        round(1 / (1 + SILENCE), 4),
        encoder,
    )


def _arrays(rows: Sequence[Case]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    inputs = np.array([astuple(row.signs) for row in rows if row.signs], float)
    labels = np.array([row.holds for row in rows], int)
    # Lives ask the same few dozen questions again and again; our own samples are as many homes.
    asked = Counter(row.home for row in rows)
    weights = np.array([100 / asked[row.home] for row in rows])
    return inputs, labels, weights


def held_out(rows: Sequence[Case], encoder: str) -> np.ndarray:
    """The probability of each case by a judge that has not seen its home."""
    likely = np.zeros(len(rows))
    for seen, unseen in GroupKFold(FOLDS).split(rows, groups=[row.home for row in rows]):
        judge = fit([rows[at] for at in seen], encoder)
        likely[unseen] = [judge.likely(rows[at].signs) for at in unseen]
    return likely


def main() -> None:
    options = parser("abstention_train", __doc__ or "")
    options.add_argument("--lives", type=int, default=LIVES, help="lives of the training bank")
    options.add_argument("--out", type=Path, default=WEIGHTS, help="file to write")
    given = options.parse_args()
    with open_session(load_config()) as models:
        encoder = models.embedder.identity
        rows = cases(models, 2 if given.quick else given.lives, POLICIES)
    judge = fit(rows, encoder)
    judge.save(given.out)
    likely = held_out(rows, encoder)
    labels = np.array([row.holds for row in rows])
    progress(f"wrote {given.out}; {len(rows)} cases, {labels.mean():.2f} of them answerable")
    for field, weight in zip(fields(SelectionSigns), judge.weights, strict=True):
        print(f"{field.name:16} {weight:8.3f}")
    print(f"held-out homes: AUC {roc_auc_score(labels, likely):.3f}, "
          f"Brier {brier_score_loss(labels, likely):.3f}")  # fmt: skip
    for kind in sorted({row.kind for row in rows}):
        at = np.array([row.kind == kind for row in rows])
        spoken = (likely[at] >= judge.threshold)[labels[at]]
        silent = (likely[at] < judge.threshold)[~labels[at]]
        print(f"  {kind:16} answered {_share(spoken)}, silent {_share(silent)}")
    for low in np.arange(0, 1, 0.1):
        at = (likely >= low) & (likely < low + 0.1)
        if at.any():
            print(f"  said {low:.1f} to {low + 0.1:.1f}: held {labels[at].mean():.2f} n={at.sum()}")


def _share(hits: np.ndarray) -> str:
    return f"{hits.mean():.2f} of {len(hits)}" if len(hits) else "none"


if __name__ == "__main__":
    main()
