"""One reply to a message that asks several things, of the replies to each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from agent.results import Reply
from policies.selection import Choice, Selection


def combined(questions: Sequence[str], replies: Sequence[Reply]) -> Reply:
    """The reply to all the questions, which rests on what each reply rests on.

    It abstains where all of them do; where some do, it says to which question it knows nothing.
    """
    first, *_ = replies
    if all(reply.abstained for reply in replies):
        said = list(dict.fromkeys(reply.text for reply in replies))[:1]
    else:
        said = [
            f"“{question}”: {reply.text}" if reply.abstained else reply.text
            for question, reply in zip(questions, replies, strict=True)
        ]
    # Two questions may be answered by one quotation, alone or beside a sentence.
    told = dict.fromkeys(line for text in said for line in text.split("\n"))
    return Reply(
        first.route,
        "\n".join(told),
        memories=_choices(reply.memories for reply in replies),
        abstained=all(reply.abstained for reply in replies),
        selection=_selection([one.selection for one in replies if one.selection is not None]),
        likely=max((one.likely for one in replies if one.likely is not None), default=None),
        marks={name: mark for reply in replies for name, mark in reply.marks.items()},
        inferred=tuple(dict.fromkeys(chain.from_iterable(one.inferred for one in replies))),
        read_as=" ".join(_read_as(questions, replies)),
    )


def _read_as(questions: Sequence[str], replies: Sequence[Reply]) -> list[str]:
    """What each question was read as; nothing where each stood by itself."""
    if not any(reply.read_as for reply in replies):
        return []
    return [reply.read_as or asked for asked, reply in zip(questions, replies, strict=True)]


def _selection(selections: Sequence[Selection]) -> Selection | None:
    """What was chosen for any of the questions, and of each memory the step that chose it."""
    if not selections:
        return None
    steps = sorted(chain.from_iterable(one.trace for one in selections), key=lambda s: s.chosen)
    return Selection(
        selections[0].policy,
        _choices(one.chosen for one in selections),
        tuple({step.memory: step for step in steps}.values()),
    )


def _choices(groups: Iterable[Sequence[Choice]]) -> tuple[Choice, ...]:
    """The choices of all groups, those of the first one first, each memory once."""
    found: dict[str, Choice] = {}
    for choice in chain.from_iterable(groups):
        found.setdefault(choice.memory.id, choice)
    return tuple(found.values())
