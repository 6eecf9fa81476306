"""In which order the model should read what was selected, and whether relations help it.

``python -m benchmarks.answer_order [--questions N]``: simulated lives of the training bank as gold
memories, the product's own selection, and the 1.5B model's answer to the same notes in each of
``ARRANGEMENTS``, and in the first one with each note's relations behind it. *right*: the answer
names the value that holds at the time asked about, and no other that the fact ever had.
"""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent.answering.answer import MAX_ANSWER_TOKENS, build_turns
from agent.config import load_config
from agent.session.session import Session, open_session
from benchmarks.quality.answers.abstention_cases import K, tell
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.simulated_lives.lives import BANKS, at, fresh
from benchmarks.shared.simulated_lives.lives_world import Asked, write_life
from policies.selection import Choice
from store.row_codecs import entity_key
from store.types import Memory

SEED = 200
"""Of the first life; no other benchmark of lives has it."""
KINDS = ("chain", "asof", "now", "reminder")
"""Of questions that are answered by a value; asked for in turn."""


# ---- ways to write the notes -----------------------------------------------------------------

Arrange = Callable[[Sequence[Choice]], list[Choice]]
_ME = entity_key("me")


def best_first(chosen: Sequence[Choice]) -> list[Choice]:
    """As they were selected."""
    return list(chosen)


def best_last(chosen: Sequence[Choice]) -> list[Choice]:
    """The best one beside the question, which follows the notes."""
    return list(reversed(chosen))


def by_time(chosen: Sequence[Choice]) -> list[Choice]:
    """Oldest first: by when it began to hold, else by when it was told."""
    return sorted(chosen, key=lambda c: (c.memory.valid_from or c.memory.created, c.memory.id))


def by_entity(chosen: Sequence[Choice]) -> list[Choice]:
    """What shares an entity stands together, the group of the best one first."""
    left = list(chosen)
    found: list[Choice] = []
    while left:
        group = [left.pop(0)]
        ends = _ends(group[0].memory)
        while linked := [choice for choice in left if _ends(choice.memory) & ends]:
            group += linked
            left = [choice for choice in left if choice not in linked]
            ends |= frozenset().union(*(_ends(choice.memory) for choice in linked))
        found += group
    return found


def _ends(memory: Memory) -> frozenset[str]:
    """Its entities but the person, whom nearly every memory is about."""
    ends = (entity_key(end) for triple in memory.triples for end in (triple.head, triple.tail))
    return frozenset(ends) - {_ME}


ARRANGEMENTS: Mapping[str, Arrange] = {
    "best_first": best_first,
    "best_last": best_last,
    "by_time": by_time,
    "by_entity": by_entity,
}


def with_relations(choice: Choice) -> Choice:
    """With its relations in a few words behind it: 'I moved to Tampines. [lives in: Tampines]'."""
    told = "; ".join(f"{t.relation.replace('_', ' ')}: {t.tail}" for t in choice.memory.triples[:2])
    text = f"{choice.memory.text} [{told}]" if told else choice.memory.text
    return replace(choice, memory=replace(choice.memory, text=text))


# ---- measuring ------------------------------------------------------------------------------


def main() -> None:
    options = parser("answer_order", __doc__ or "")
    options.add_argument("--questions", type=int, default=24, help="of all lives together")
    options.add_argument("--lives", type=int, default=2)
    options.add_argument("--bank", choices=sorted(BANKS), default="train")
    given = options.parse_args()
    count = 4 if given.quick else given.questions
    ways = [*ARRANGEMENTS, "best_first+relations"]
    rights: dict[str, list[bool]] = {way: [] for way in ways}
    seconds = 0.0
    with open_session(load_config()) as models:
        for seed in range(SEED, SEED + given.lives):
            life = write_life(BANKS[given.bank], seed)
            drawn = draw(life.asked, count // given.lives, seed)
            with tempfile.TemporaryDirectory() as home, fresh(models, Path(home)) as session:
                waiting = list(life.told)
                for asked in drawn:
                    while waiting and waiting[0].at <= asked.at:
                        tell(session, waiting.pop(0))
                    there = at(session, asked.at)
                    for way in ways:
                        began = time.perf_counter()
                        said = answered(there, asked, way)
                        seconds += time.perf_counter() - began
                        rights[way].append(right(asked, said))
                        progress(f"{way:22} {rights[way][-1]!s:5} {asked.text} -> {said}")
    figures: dict[str, float | int | None] = {
        f"{way}.right": sum(found) / len(found) for way, found in rights.items()
    }
    figures["questions_n"] = len(rights[ways[0]])
    figures["seconds_a_call"] = seconds / sum(map(len, rights.values()))
    config = {"quick": given.quick, "bank": given.bank, "lives": given.lives, "k": K}
    write_results("answer_order", config, list(range(SEED, SEED + given.lives)), figures)
    for key, value in figures.items():
        print(f"{key:35} {value:.3f}")


def draw(asked: Sequence[Asked], count: int, seed: int) -> list[Asked]:
    """As many of each kind, of the weeks in which there is something to confuse."""
    rng = random.Random(seed)
    found: list[Asked] = []
    for number, kind in enumerate(KINDS):
        late = [one for one in asked if one.kind == kind and one.right and one.week >= 2]
        share = count // len(KINDS) + (number < count % len(KINDS))
        found += rng.sample(late, min(share, len(late)))
    return sorted(found, key=lambda one: one.at)


def answered(session: Session, asked: Asked, way: str) -> str:
    """The model's words on the selected notes, arranged this way."""
    found = session.retrieve(asked.text, k=K)
    order, _, relations = way.partition("+")
    chosen = ARRANGEMENTS[order](found.selection.chosen)
    if relations:
        chosen = [with_relations(choice) for choice in chosen]
    turns = build_turns(asked.text, chosen, asked.at, found.asked, found.marks)
    return session.llm.chat(turns, max_tokens=MAX_ANSWER_TOKENS).strip()


def right(asked: Asked, said: str) -> bool:
    """Whether a value that holds is named, and none that does not."""
    return any(names(said, v) for v in asked.right) and not any(names(said, v) for v in asked.wrong)


def names(said: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", said, re.IGNORECASE) is not None


if __name__ == "__main__":
    main()
