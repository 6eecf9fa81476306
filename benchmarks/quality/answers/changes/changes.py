"""Changes as people tell them: is the current value told? Against pasting the messages.

Three arms answer the same cases with the same model. *ours* takes the messages one after another
into a new home, each at its time, and then the question; *plain* gives the model the dated
messages and the question; *few-shot* gives it four examples of later notes as well.

- *current*: the answer contains what a right one contains and nothing that is out of date;
- *stale*: it contains something that is out of date or belongs to somebody else;
- *lost*: neither;
- *evidence* (ours): the newest message that holds what a right answer contains was among the notes
  that the model was given; of the cases where some message holds it.

Greedy decoding, so a run has no seed: the same cases give the same answers.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from agent.config import load_config
from agent.session.session import Session, open_session
from benchmarks.quality.answers.changes.changes_data import SETS, Case, cases_of, plain
from benchmarks.quality.answers.pasting import answer_by_pasting
from benchmarks.shared.common import ROOT, parser, progress, write_results
from benchmarks.shared.questions.qa_models import KeptAnswers, TokenCount
from benchmarks.shared.simulated_lives.lives import at, fresh
from store.types import Status

ARMS = ("ours", "plain", "few_shot")
Row = dict[str, object]


def main() -> None:
    options = parser("changes", __doc__ or "")
    options.add_argument("--sets", nargs="*", default=list(SETS), help="names of files")
    options.add_argument("--arms", nargs="*", default=list(ARMS), choices=ARMS)
    options.add_argument("--ids", nargs="*", default=[], help="only these cases")
    options.add_argument("--every", type=int, default=1, help="only every Nth case of a set")
    options.add_argument("--again", action="store_true", help="let the model answer anew")
    given = options.parse_args()
    cases = [
        case
        for name in given.sets
        for case in list(cases_of(name, given.data))[:: given.every]
        if not given.ids or case.id in given.ids
    ]
    if given.quick:
        cases = cases[:2]
    with open_session(load_config()) as models:
        kept = KeptAnswers(models.llm)
        models.llm = models.llm if given.again else kept
        rows = list(_answers(cases, models, given.arms))
    whole = not (given.quick or given.ids or given.every > 1)
    config = {
        "quick": not whole,
        "sets": given.sets,
        "arms": given.arms,
        "model": kept.identity,
    }
    folder = ROOT / "build" / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "changes.answers.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8"
    )
    write_results("changes", config, [0], figures(rows))


def _answers(cases: Iterable[Case], models: Session, arms: list[str]) -> Iterable[Row]:
    count = TokenCount(models.config)
    for number, case in enumerate(cases, 1):
        row: Row = {
            "id": case.id, "set": case.set, "kind": case.kind, "q": case.question,
        }  # fmt: skip
        for arm in arms:
            if arm == "ours":
                said = _ours(case, models, row)
            else:
                said = answer_by_pasting(
                    models.llm, case.messages, case.question, case.asked, count,
                    examples=arm == "few_shot",
                )  # fmt: skip
            row[arm] = case.judge(said)
            row[f"{arm}.said"] = said
        told = " ".join(f"{arm}={row[arm]}" for arm in arms)
        progress(f"{number} {case.set}/{case.id} {case.kind}: {told}")
        yield row


def _ours(case: Case, models: Session, row: Row) -> str:
    with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as session:
        for moment, text in case.messages:
            at(session, moment).respond(text)
        reply = at(session, case.asked).ask(case.question)
        chosen = reply.selection.chosen if reply.selection else ()
        row["shown"] = [choice.memory.text for choice in chosen]
        row["evidence"] = _holds_evidence(case, {c.memory.source for c in chosen}, session)
        row["memories"] = [
            f"{m.id} {m.status}: {m.text}" for m in session.graph.memories.list(*Status)
        ]
        row["messages"] = [f"{moment:%Y-%m-%d} {text}" for moment, text in case.messages]
        return "I don't know." if reply.abstained else reply.text


def _holds_evidence(case: Case, sources: set[str | None], session: Session) -> bool | None:
    """Whether the newest message that a right answer can be read from was given to the model.

    None where the answer stands in no message: it has to be inferred.
    """
    for _, text in reversed(case.messages):
        if any(plain(value) in plain(text) for value in (*case.new, *case.every)):
            told = {session.graph.sources.get(source).text for source in sources if source}
            return text in told
    return None


def figures(rows: list[Row]) -> dict[str, float]:
    """Shares by arm: of all cases, of each set, of each kind."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups["all"].append(row)
        groups[str(row["set"])].append(row)
        groups[f"kind.{row['kind']}"].append(row)
    result: dict[str, float] = {}
    for name, members in groups.items():
        result[f"{name}.n"] = len(members)
        for arm in ARMS:
            if arm in members[0]:
                counted = Counter(str(row[arm]) for row in members)
                for verdict in ("current", "stale", "lost"):
                    result[f"{name}.{arm}.{verdict}"] = counted[verdict] / len(members)
        if "evidence" in members[0]:
            held = [bool(row["evidence"]) for row in members if row["evidence"] is not None]
            result[f"{name}.ours.evidence"] = sum(held) / max(1, len(held))
            result[f"{name}.ours.evidence.n"] = len(held)
    return result


if __name__ == "__main__":
    main()
