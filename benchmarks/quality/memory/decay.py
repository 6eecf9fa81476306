"""What ``memlane today`` proposes to forget: is it noise, and is anything lost that is needed?

An invented life of four years (``samples/decay_life.toml``): each month things are read in mail and
documents that nobody needs later; some of what was told, pinned or read is needed today. A seed
draws the noise. Then everything that has faded is forgotten softly, as if the person agreed to all
of it, and the questions are asked again without a language model.

- *proposed*: memories that have faded; *noise proposed*: the share of all noise among them, and
  *noise of proposed*: the share of them that is noise;
- *needed proposed*: what is needed and was proposed, of what was told, pinned and read;
- *found*: questions with the needed memory among the selected; *noise selected*: the share of all
  selected memories that is noise; each before and after.
- *random*: the same with as many memories forgotten, drawn from all that were read.
"""

from __future__ import annotations

import random
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any

from agent.config import load_config
from agent.memory.time.decay import faded
from agent.session.session import Session, open_session
from benchmarks.shared.common import SAMPLES, parser, progress, write_results
from benchmarks.shared.simulated_lives.lives import at, fresh
from store.journal import Forget, Insert
from store.types import Draft, SourceKind

NOW = datetime(2024, 5, 8, 9, tzinfo=UTC)
MONTHS = 47
Figures = dict[str, float | int | None]


def main(argv: Sequence[str] | None = None) -> None:
    options = parser("decay", __doc__ or "")
    args = options.parse_args(argv)
    life = tomllib.loads((SAMPLES / "decay_life.toml").read_text("utf-8"))
    seeds = list(range(1 if args.quick else args.seeds))
    found: list[Figures] = []
    with open_session(load_config()) as models:
        for seed in seeds:
            found.append(_life(life, seed, models))
            progress(f"seed {seed}: {found[-1]}")
    figures: Figures = {key: mean(float(one[key] or 0) for one in found) for key in found[0]}
    write_results("decay", {"quick": args.quick}, seeds, figures)


def _life(life: Mapping[str, Any], seed: int, models: Session) -> Figures:
    with tempfile.TemporaryDirectory() as folder, fresh(models, Path(folder)) as home:
        _read_noise(life["noise"], random.Random(seed), home)
        needed = {_store(row, home): row for row in life["needed"]}
        used = {
            memory: NOW - timedelta(days=row["used"])
            for memory, row in needed.items()
            if "used" in row
        }
        before = _asked(needed, home)
        everything = home.graph.memories.list()
        proposed = [one.memory.id for one in faded(everything, used, NOW)]
        # Of what nobody told or pinned, as that alone can fade.
        own = {memory for memory, row in needed.items() if row["kind"] != "read"}
        open_ones = [memory.id for memory in everything if memory.id not in own]
        drawn = random.Random(seed).sample(open_ones, len(proposed))
        after = _asked_without(proposed, needed, home)
        at_random = _asked_without(drawn, needed, home)
    noise = len(everything) - len(needed)
    lost = [needed[memory] for memory in proposed if memory in needed]
    return {
        "memories": len(everything),
        "noise": noise,
        "questions": len(needed),
        "proposed": len(proposed),
        "noise_proposed": (len(proposed) - len(lost)) / noise,
        "noise_of_proposed": (len(proposed) - len(lost)) / max(1, len(proposed)),
        **{
            f"needed_proposed.{kind}": sum(row["kind"] == kind for row in lost)
            for kind in ("told", "pinned", "read")
        },
        **{f"before.{key}": value for key, value in before.items()},
        **{f"after.{key}": value for key, value in after.items()},
        **{f"random.{key}": value for key, value in at_random.items()},
    }


def _read_noise(noise: Mapping[str, Any], draw: random.Random, home: Session) -> None:
    for month in range(MONTHS, 0, -1):
        moment = NOW - timedelta(days=30 * month)
        drafts = []
        for _ in range(noise["a_month"]):
            subclass, text = draw.choice(noise["texts"])
            day = moment + timedelta(days=draw.randint(1, 20))
            said = text.format(
                what=draw.choice(noise["what"]),
                name=draw.choice(noise["name"]),
                date=f"{day:%Y-%m-%d}",
                number=draw.randint(100000, 999999),
            )
            drafts.append(Draft(said, subclass, moment))
        _add(drafts, SourceKind.MAIL, moment, home)


def _store(row: Mapping[str, Any], home: Session) -> str:
    moment = NOW - timedelta(days=row["ago"])
    kind = SourceKind.MANUAL if row["kind"] == "told" else SourceKind.DOCUMENT
    draft = Draft(row["text"], row["subclass"], moment, pinned=row["kind"] == "pinned")
    return _add([draft], kind, moment, home)


def _add(drafts: Sequence[Draft], kind: SourceKind, moment: datetime, home: Session) -> str:
    """Store them without looking for what they change; returns the id of the last one."""
    text = " ".join(draft.text for draft in drafts)
    source = home.graph.sources.add(kind, text, moment)
    edits = [Insert(replace(draft, source=source.id)) for draft in drafts]
    entries = home.graph.apply(edits, at=moment, source=source.id)
    return entries[-1].changes[0].memory


def _asked(needed: Mapping[str, Mapping[str, Any]], home: Session) -> Figures:
    found, noise, chosen = 0, 0, 0
    session = at(home, NOW)
    for memory, row in needed.items():
        chosen_now = session.retrieve(row["question"], use_llm=False).selection.chosen
        ids = [one.memory.id for one in chosen_now]
        found += memory in ids
        noise += sum(id_ not in needed for id_ in ids)
        chosen += len(ids)
    return {"found": found / len(needed), "noise_selected": noise / max(1, chosen),
            "selected": chosen / len(needed)}  # fmt: skip


def _asked_without(
    ids: Sequence[str], needed: Mapping[str, Mapping[str, Any]], home: Session
) -> Figures:
    """Ask with these memories softly forgotten, and bring them back."""
    entries = home.graph.apply([Forget(id_) for id_ in ids], at=NOW, actor="user")
    asked = _asked(needed, home)
    for entry in reversed(entries):
        home.graph.undo(entry.id, at=NOW)
    return asked


if __name__ == "__main__":
    main()
