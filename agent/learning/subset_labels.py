"""Subset labels for the RUMS selectors.

The search is the paper's (``policies.rums.utility``); what a subset is worth comes as the ``Value``
of the training, so any of its rewards makes labels: by the answer's entropy as RUMS has it, or by
the likelihood of the known answer, which says more where one is known (docs/rums.md). Rewards are
cached, so labels that an interrupted training had made are found again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.ports import Embedder
from policies.base import Episode, Question, Value
from policies.rums.utility import CANDIDATES, MOST, FoundSubset, coarse, search
from policies.training.mlp import Mlp
from policies.training.reinforce import Progress, State

TAUGHT = ("rums-binary", "rums-multi")
"""Policies that learn from such labels instead of a policy gradient."""
GENERAL = (
    "What is the capital of Canada?",
    "Who wrote The Old Man and the Sea?",
    "How many legs does a spider have?",
    "When did the Berlin Wall fall?",
    "What is the boiling point of water?",
    "Which planet is the largest?",
    "Who painted the ceiling of the Sistine Chapel?",
    "How long is the Danube?",
    "What does DNA stand for?",
    "In which year did the Titanic sink?",
    "Who was the first woman in space?",
    "What is the square root of 144?",
    "Which gas do plants take in?",
    "Who invented the telephone?",
    "What language is spoken in Brazil?",
    "How many strings does a violin have?",
)
"""Questions that no memory helps with, so that who learns from one person's own does not forget
when to choose nothing."""
PHASE = "utility labels"
OnLabel = Callable[[int, int, FoundSubset], None]
"""Called with (labels so far, episodes, what the search for the last one found)."""


def lessons(
    episodes: Sequence[Episode],
    value: Value,
    embedder: Embedder,
    network: Mlp,
    on_step: Callable[[str, Progress], None],
) -> tuple[Episode, ...]:
    """What a person's training teaches: their episodes with labels, and general questions."""
    running = 0.0

    def tell(done: int, of: int, found: FoundSubset) -> None:
        nonlocal running
        running += (found.best.mean - running) / done
        on_step(PHASE, Progress(done, of, found.best.mean, running, State.fresh(network)))

    labelled = by_utility(episodes, value, on_label=tell)
    return (*labelled, *general(episodes[0], embedder))


def by_utility(
    episodes: Sequence[Episode],
    value: Value,
    *,
    on_label: OnLabel = lambda done, of, found: None,
) -> tuple[Episode, ...]:
    """The episodes with what is worth most as required; nothing where nothing is worth more.

    ``value`` takes its price a memory off, so a subset has to be worth that too.
    """
    labelled = []
    for done, episode in enumerate(episodes, 1):
        rows = coarse(episode.question, episode.view, CANDIDATES)
        ids = [episode.view.memories[row].id for row in rows]
        found = search(_entropies(episode, ids, value), len(ids), most=MOST)
        chosen = found.best.subset if found.best.mean > 0 else ()
        labelled.append(replace(episode, required=frozenset(ids[i] for i in chosen)))
        on_label(done, len(episodes), found)
    return tuple(labelled)


def general(like: Episode, embedder: Embedder) -> tuple[Episode, ...]:
    """Episodes of ``GENERAL`` asked of the same memories at the same time."""
    vectors = embedder.encode(GENERAL)
    return tuple(
        Episode(f"general/{n}", Question(text, vector, like.question.now), like.view, frozenset())
        for n, (text, vector) in enumerate(zip(GENERAL, vectors, strict=True))
    )


def _entropies(
    episode: Episode, ids: Sequence[str], value: Value
) -> Callable[[Sequence[tuple[int, ...]]], list[tuple[float, ...]]]:
    """What ``search`` asks for: less is better, and the empty subset is worth nothing."""

    def ask(subsets: Sequence[tuple[int, ...]]) -> list[tuple[float, ...]]:
        worth = value(episode, [tuple(ids[i] for i in subset) for subset in subsets])
        return [(-one,) for one in worth]

    return ask
