"""A newcomer's first lines, each of several facts: is each of them found, and what was not told?

Homes of ``samples/introductions_held``: their messages are told, and some of their questions asked.

- *right*: at least half of the answer's words are in the answer's sentence, which stands for a
  judgement: answers are marked loosely; *shown*: the message that answers is among its evidence;
- *silent*: nothing is claimed, of what was told and of what was not.

The questions are asked twice: alone, as ``memlane ask`` does, and then in a row as messages of a
chat (*in_chat*), where the router has to take them for questions; *noted*: it is remembered.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from agent.answering.replies import without_excerpts
from agent.config import load_config
from agent.results import Reply
from agent.session.session import Session, open_session
from benchmarks.quality.answers.conversations.chats import figures, is_silent
from benchmarks.quality.answers.conversations.introductions_data import (
    INTRODUCTIONS_HELD,
    Introduced,
    Question,
    read_introductions,
)
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.simulated_lives.lives import at, fresh

ASKED = 3
"""Questions of each home."""
_WORD = re.compile(r"\w+")


def main() -> None:
    options = parser("introductions", __doc__ or "")
    options.add_argument("--folder", type=Path, default=INTRODUCTIONS_HELD, help="of homes")
    options.add_argument("--every", type=int, default=1, help="take each so manyth home")
    given = options.parse_args()
    homes = list(read_introductions(given.folder))[:: 20 if given.quick else given.every]
    counts: Counter[str] = Counter()
    with open_session(load_config()) as models:
        identity = models.llm.identity
        for number, one in enumerate(homes, 1):
            with tempfile.TemporaryDirectory() as folder, fresh(models, Path(folder)) as home:
                _ask(one, home, counts)
            progress(f"{number} of {len(homes)}: {dict(sorted(counts.items()))}")
    settings = {
        "quick": given.quick, "folder": given.folder.name, "homes": len(homes), "asked": ASKED,
        "model": identity,
    }  # fmt: skip
    write_results("introductions", settings, [0], figures(counts))


def _ask(one: Introduced, home: Session, counts: Counter[str]) -> None:
    for said, text in one.messages:
        at(home, said).respond(text)
    questions = Random(one.id).sample(one.questions, min(ASKED, len(one.questions)))
    for asked in questions:
        _count(asked, one, at(home, asked.asked).ask(asked.text), "", counts)
    for asked in questions:
        reply = at(home, asked.asked).respond(asked.text)
        _count(asked, one, reply, "in_chat.", counts)


def _count(asked: Question, one: Introduced, reply: Reply, arm: str, counts: Counter[str]) -> None:
    group = f"{arm}told" if asked.needed else f"{arm}untold"
    counts[f"{group}.n"] += 1
    counts[f"{group}.silent"] += is_silent(reply)
    counts[f"{group}.noted"] += bool(reply.entries)
    if asked.needed:
        told = without_excerpts(reply.text)
        counts[f"{group}.right"] += not is_silent(reply) and is_said(asked.answer, told)
        counts[f"{group}.shown"] += _shown(asked, one, reply)


def is_said(answer: str, text: str) -> bool:
    """Whether at least half of an answer's words are in a text."""
    wanted, said = ({word.lower() for word in _WORD.findall(part)} for part in (answer, text))
    return 2 * len(wanted & said) >= len(wanted)


def _shown(asked: Question, one: Introduced, reply: Reply) -> bool:
    moments = {one.messages[span.message][0] for span in asked.needed}
    return any(choice.memory.created in moments for choice in reply.memories)


if __name__ == "__main__":
    main()
