"""Shifts: does "an hour later", said of an earlier date or time, become the right value?

Every pair of an older and a newer statement of our own episodes, of which the newer one changes the
older, goes to ``agent.answering.notes.shifts``. Of the episodes about a shift, *right* is how often
the computed value has what a right answer has, *wrong* how often there is a value without that,
*none* how often there is no value. Of the other episodes *false* is how often there is a value that
a right answer does not have.

The examples of the prompt are of no episode. ``--voices`` names other episodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from agent.answering.notes.shifts import shifted
from agent.config import load_config
from agent.session.session import open_session
from benchmarks.quality.answers.changes.changes_data import plain
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.training.reader.reader_data import VOICES, Episode, read_episodes

CHANGING = ("supersedes", "corrects", "refines")
QUICK = 10
EACH = 3
"""Of the episodes that are not about a shift one in so many is asked."""


def main() -> None:
    options = parser("shifts", __doc__ or "")
    options.add_argument("--voices", type=Path, default=VOICES, help="folder of episodes")
    options.add_argument("--show", action="store_true", help="print what is not right")
    given = options.parse_args()
    episodes = list(read_episodes(given.voices))
    about = [episode for episode in episodes if episode.kind == "shift"]
    others = [episode for episode in episodes if episode.kind != "shift"][::EACH]
    if given.quick:
        about, others = about[:QUICK], others[:QUICK]
    counts: Counter[str] = Counter()
    with open_session(load_config()) as models:
        for number, episode in enumerate([*about, *others], 1):
            for older, said, newer in _pairs(episode):
                moved = shifted(older, said, newer, models.llm)
                result = _judge(moved, episode)
                counts[f"{'shift' if episode.kind == 'shift' else 'other'}.{result}"] += 1
                if given.show and (result == "wrong" or (result == "none" and episode in about)):
                    print(f"{episode.id} {result}: {older!r} | {newer!r} -> {moved!r}", flush=True)
            if number % 10 == 0:
                progress(f"episode {number} of {len(about) + len(others)}: {dict(counts)}")
    config = {"quick": given.quick, "voices": sorted({episode.voice for episode in episodes})}
    write_results("shifts", config, [0], figures(counts))


def _pairs(episode: Episode) -> Iterator[tuple[str, datetime, str]]:
    """The older and the newer statement in their own words, and when the older was said."""
    by_id = {statement.id: statement for statement in episode.statements}
    for (old, new), relation in episode.relations.items():
        if relation in CHANGING and (new in episode.evidence or episode.kind != "shift"):
            said = episode.messages[by_id[old].message][0].replace(tzinfo=UTC)
            yield by_id[old].span, said, by_id[new].span


def _judge(moved: str, episode: Episode) -> str:
    if not moved:
        return "none"
    return "right" if any(plain(one) in plain(moved) for one in episode.answer) else "wrong"


def figures(counts: Counter[str]) -> dict[str, float]:
    """Shares of the pairs of either kind, and their numbers."""
    made: dict[str, float] = {}
    for kind in ("shift", "other"):
        number = sum(count for name, count in counts.items() if name.startswith(kind))
        made[f"{kind}.n"] = number
        for result in ("right", "wrong", "none"):
            made[f"{kind}.{result}"] = counts[f"{kind}.{result}"] / max(1, number)
    return made


if __name__ == "__main__":
    main()
