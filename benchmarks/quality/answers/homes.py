"""Questions in homes of several stories: does the reader find the right note among unrelated ones?

Each home is told the messages of some episodes by one voice, about different topics, in order of
time, in their own words and without a language model. Then the question of each episode is asked,
and of as many episodes that the home was not told. What is measured is the note that an answer
would quote: the most relevant one that is taken to hold.

- *current*, *stale*, *lost*: as in ``benchmarks.changes``, of the quoted words;
- *own*: the note is of the question's own episode;
- *among*: what a right answer contains stands in one of the notes that are taken to hold;
- *silent*: nothing is quoted where the home was told nothing about it;
- *false edges*: changes that the reader sees between episodes about different things, a memory.

*alone* is the same with one episode a home: the difference is what unrelated memories cost.

``--answers`` lets the language model answer as well, and compares that with pasting: *answered* is
the product, *pasted* the same model given all dated messages of the home with four examples.

``--closed`` asks the language model the closed question of ``answering.notes`` about the five
most relevant notes of each question: the area under the curve, notes of the question's own episode
against all others, of relevance, of the chance of yes, and of both as they are weighed there.

``--silent`` reads the notes of each question together, with the language model: of the questions
about something that was told (*asked*) and of the others (*untold*) the share that gets an answer,
none, or the nearest note alone.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from sklearn.metrics import roc_auc_score

from agent.answering.answer import admits_nothing
from agent.answering.notes.answer import CLOSED
from agent.answering.notes.gather import Note, gather
from agent.answering.notes.prompt import chance_of_answer
from agent.answering.notes.quotations import QUOTABLE
from agent.config import load_config
from agent.memory.remember import keep, remember_as_said
from agent.models.adapters.bert.statement_reader import TrainedReader
from agent.session.session import Session, open_session
from benchmarks.quality.answers.changes.changes_data import HELD_VOICES, case_of_episode
from benchmarks.quality.answers.pasting import answer_by_pasting
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.shared.questions.qa_models import TokenCount
from benchmarks.shared.simulated_lives.lives import at, fresh
from benchmarks.training.reader.reader_data import Episode, read_episodes
from benchmarks.training.reader.reader_train import encoder_folder

MOST_RELEVANT = 5
"""Notes of a question that the closed question is asked about."""


class Looked(NamedTuple):
    """A note: of the question's own episode or not, its relevance, the chance of yes."""

    own: bool
    relevance: float
    yes: float


def main() -> None:
    options = parser("homes", __doc__ or "")
    options.add_argument("--stories", type=int, default=8, help="episodes of a home")
    options.add_argument("--every", type=int, default=1, help="only every Nth home")
    options.add_argument("--weights", type=Path, help="of the reader, instead of those that ship")
    options.add_argument("--voices", type=Path, default=HELD_VOICES, help="folder of episodes")
    options.add_argument("--answers", action="store_true", help="with the language model")
    options.add_argument("--silent", action="store_true", help="whether anything is said")
    options.add_argument("--closed", action="store_true", help="with the closed question")
    given = options.parse_args()
    episodes = list(read_episodes(given.voices))
    counts: Counter[str] = Counter()
    looked_at: list[Looked] = []
    reader = TrainedReader(encoder_folder(), given.weights) if given.weights else None
    with open_session(load_config(), statements=reader) as models:
        homes = list(_homes(episodes, given.stories))[:: 20 if given.quick else given.every]
        for number, (told, others) in enumerate(homes, 1):
            with tempfile.TemporaryDirectory() as folder, fresh(models, Path(folder)) as home:
                _tell(told, home)
                _ask(told, others, home, counts)
                if given.closed:
                    looked_at += _closed(told, others, home)
                if given.silent:
                    _silence(told, others, home, counts)
                if given.answers:
                    _answer(told, others, home, counts)
            if not (given.quick or given.answers or given.silent):
                for episode in told[::4]:
                    with (
                        tempfile.TemporaryDirectory() as folder,
                        fresh(models, Path(folder)) as home,
                    ):
                        _tell([episode], home)
                        _ask([episode], [], home, counts, "alone.")
            progress(f"home {number} of {len(homes)}: {dict(counts)}")
    config = {
        "quick": given.quick or given.every > 1 or bool(given.weights),
        "stories": given.stories,
        "voices": sorted({episode.voice for episode in episodes}),
    }
    write_results("homes", config, [0], figures(counts) | areas(looked_at))


def _homes(episodes: Sequence[Episode], size: int) -> Iterator[tuple[list[Episode], list[Episode]]]:
    """Episodes that share a home, no two of one topic, and as many about topics it is not told."""
    for voice in sorted({episode.voice for episode in episodes}):
        waiting = [episode for episode in episodes if episode.voice == voice]
        random.Random(0).shuffle(waiting)
        own = list(waiting)
        while len(waiting) >= size:
            home: list[Episode] = []
            for episode in list(waiting):
                if len(home) < size and episode.topic not in {one.topic for one in home}:
                    home.append(episode)
                    waiting.remove(episode)
            if len(home) < size:
                return
            topics = {one.topic for one in home}
            yield home, [one for one in own if one.topic not in topics][:size]


def _tell(episodes: Sequence[Episode], home: Session) -> None:
    """All messages in order of time, each kept in its own words."""
    messages = [row for episode in episodes for row in case_of_episode(episode).messages]
    for moment, text in sorted(messages):
        there = at(home, moment)
        remember_as_said(keep(home.graph, text, said=moment), home.graph, there, moment)


def _ask(
    told: Sequence[Episode],
    others: Sequence[Episode],
    home: Session,
    counts: Counter[str],
    prefix: str = "",
) -> None:
    end = max(case_of_episode(episode).asked for episode in told)
    session = at(home, end)
    for episode in told:
        case = case_of_episode(episode)
        notes = _notes(case.question, session)
        note = _best(notes)
        counts[f"{prefix}n"] += 1
        counts[f"{prefix}among"] += any(case.holds(n.passage.text) for n in notes if n.holds)
        counts[f"{prefix}{case.judge(_words(note)) if note else 'lost'}"] += 1
        if note is not None:
            counts[f"{prefix}own"] += _from(episode, note, home)
    for episode in others:
        counts[f"{prefix}others"] += 1
        counts[f"{prefix}silent"] += _best(_notes(episode.question, session)) is None
    memories = home.graph.memories.list()
    of_message = {text: n for n, episode in enumerate(told) for _, text in episode.messages}
    story = {
        memory.id: of_message.get(home.graph.sources.get(memory.source).text)
        for memory in memories
        if memory.source
    }
    edges = home.graph.change_edges.of(story)
    counts[f"{prefix}memories"] += len(memories)
    counts[f"{prefix}false_edges"] += sum(
        edge.probability >= 0.4 and story.get(edge.older) != story.get(edge.newer) for edge in edges
    )


def _answer(
    told: Sequence[Episode], others: Sequence[Episode], home: Session, counts: Counter[str]
) -> None:
    """Count what is told and what is withheld, by the product and by pasting."""
    end = max(case_of_episode(episode).asked for episode in told)
    session = at(home, end)
    messages = sorted(row for episode in told for row in case_of_episode(episode).messages)
    count = TokenCount(home.config)
    for episode in (*told, *others):
        case = case_of_episode(episode)
        reply = session.ask(case.question)
        said = {
            "answered": "I don't know." if reply.abstained else reply.text,
            "pasted": answer_by_pasting(
                session.llm, messages, case.question, end, count, examples=True
            ),
        }
        for arm, text in said.items():
            if episode in told:
                counts[f"{arm}.{case.judge(text)}"] += 1
            else:
                counts[f"{arm}.silent"] += admits_nothing(text)
            counts[f"{arm}.{'n' if episode in told else 'others'}"] += 1


def _silence(
    told: Sequence[Episode], others: Sequence[Episode], home: Session, counts: Counter[str]
) -> None:
    """Count what happens to the questions about what was told and to the others."""
    session = at(home, max(case_of_episode(episode).asked for episode in told))
    if session.statements is None:
        return
    for episode in (*told, *others):
        found = session.retrieve(episode.question)
        notes = gather(episode.question, found, session, session.statements)
        kind = "asked" if episode in told else "untold"
        said = "nearest" if any(note.unsure for note in notes) else "answer" if notes else "none"
        counts[f"{kind}.{said}"] += 1
        counts[f"{kind}.n"] += 1


def _closed(told: Sequence[Episode], others: Sequence[Episode], home: Session) -> Iterator[Looked]:
    """The most relevant notes of each question, with what the model says to each alone."""
    session = at(home, max(case_of_episode(episode).asked for episode in told))
    for episode in (*told, *others):
        question = case_of_episode(episode).question
        notes = [note for note in _notes(question, session) if note.holds]
        for note in sorted(notes, key=lambda note: -note.relevance)[:MOST_RELEVANT]:
            chance = chance_of_answer(question, note, session.llm)
            own = episode in told and _from(episode, note, home)
            yield Looked(own, note.relevance, 0.0 if chance is None else chance)


def areas(looked_at: Sequence[Looked]) -> dict[str, float]:
    """Areas under the curve; none where no note was looked at."""
    own = [one.own for one in looked_at]
    if len(set(own)) < 2:
        return {}
    scores = {
        "relevance": [one.relevance for one in looked_at],
        "yes": [one.yes for one in looked_at],
        "both": [one.relevance + CLOSED * one.yes for one in looked_at],
    }
    return {"closed.notes": len(own), "closed.own": sum(own)} | {
        f"closed.{name}": float(roc_auc_score(own, score)) for name, score in scores.items()
    }


def _notes(question: str, session: Session) -> tuple[Note, ...]:
    found = session.retrieve(question, use_llm=False)
    if session.statements is None:
        return ()
    return gather(question, found, session, session.statements, use_llm=False)


def _best(notes: Sequence[Note]) -> Note | None:
    """The most relevant note that is taken to hold, where it would be quoted."""
    best = max((note for note in notes if note.holds), key=lambda n: n.relevance, default=None)
    return best if best is not None and best.relevance >= QUOTABLE else None


def _words(note: Note) -> str:
    return note.passage.words


def _from(episode: Episode, note: Note, home: Session) -> bool:
    source = note.memory.source
    texts = {text for _, text in episode.messages}
    return source is not None and home.graph.sources.get(source).text in texts


def figures(counts: Counter[str]) -> dict[str, float]:
    """Shares of the counts."""
    shares: dict[str, float] = {"n": counts["n"], "others.n": counts["others"]}
    for prefix in ("", "alone."):
        n = max(1, counts[f"{prefix}n"])
        for name in ("current", "stale", "lost", "own", "among"):
            shares[f"{prefix}{name}"] = counts[f"{prefix}{name}"] / n
        memories = max(1, counts[f"{prefix}memories"])
        shares[f"{prefix}false_edges_a_memory"] = counts[f"{prefix}false_edges"] / memories
    shares["silent"] = counts["silent"] / max(1, counts["others"])
    for kind in ("asked", "untold") if counts["asked.n"] else ():
        for said in ("answer", "nearest", "none"):
            shares[f"{kind}.{said}"] = counts[f"{kind}.{said}"] / max(1, counts[f"{kind}.n"])
    for arm in ("answered", "pasted") if counts["answered.n"] else ():
        for name in ("current", "stale", "lost"):
            shares[f"{arm}.{name}"] = counts[f"{arm}.{name}"] / counts["answered.n"]
        shares[f"{arm}.silent"] = counts[f"{arm}.silent"] / max(1, counts["answered.others"])
    return shares


if __name__ == "__main__":
    main()
