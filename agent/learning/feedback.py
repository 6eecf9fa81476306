"""Feedback on answers, with an immediate training step (EMG-RAG 4.4).

A judged turn becomes an episode: the answer that was called good, with the memories that it rested
on, or the answer that the person gave themselves. ``learn`` takes a few steps on what was judged
since it last ran: by the required memories where they are known, then by policy gradient (equation
6), which alone moves nothing where a policy is sure and surely wrong. The weights that come of it
are numbered like those of a training, so ``train --rollback`` takes the step back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from agent.answering.grounding import evidence, terms
from agent.learning.episodes import collect, current_view, is_answer
from agent.learning.rewards import LikelihoodValue, Watched
from agent.learning.train_home import keep, starting_policy
from agent.learning.training import HeldBackVerdict, Plan, compare, digest, train
from agent.memory.remember import without_secrets
from agent.ports import Embedder
from policies.base import Question
from policies.baselines.fusion import Fused
from store.derived.view import GraphView
from store.errors import InvalidInput, UnknownId
from store.graph import MemoryGraph
from store.tables.side_tables.training_data import AnswerJudgement, PairOrigin
from store.tables.sources import Turn
from store.types import Memory, Status

if TYPE_CHECKING:
    from agent.session.session import Session

LATEST = 8
"""Judged exchanges that one step learns from at most."""
JUDGED_BY = 24
"""Judged exchanges, those latest ones among them, by which a step is judged itself."""
STEPS = 3
"""Steps of each kind for each of them."""
LOOKED_AT = 12
"""Memories among which the evidence of a given answer is looked for."""
SAID = 0.5
"""Share of an answer's words that its memories have to say, or they are not what it rests on."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What was kept of a judgement."""

    turn: Turn
    judgement: AnswerJudgement
    memories: tuple[str, ...]
    """What the right answer rests on, as far as that is known."""
    not_learned: str
    """Why nothing can be learned from it; empty where it became an episode."""

    @property
    def learnable(self) -> bool:
        return not self.not_learned


def judge(
    session: Session,
    judgement: AnswerJudgement,
    *,
    turn: str | None = None,
    text: str | None = None,
) -> Judged:
    """Keep what the person says of an answer, by default the last one.

    :raises UnknownId: if there is no such exchange, or none with an answer.
    :raises InvalidInput: if ``text`` is missing where an answer is given.
    """
    graph, now = session.graph, session.config.now()
    answered = answered_turn(graph, turn)
    right = without_secrets(session, " ".join((text or "").split()))
    if judgement is AnswerJudgement.ANSWER and not terms(right):
        raise InvalidInput('Give the right answer: memlane feedback answer "Dr. Osei"')
    memories: tuple[Memory, ...] = ()
    if judgement is AnswerJudgement.GOOD:
        right = answered.reply
        memories = _rested_on(graph, answered)
    elif judgement is AnswerJudgement.ANSWER:
        view = current_view(graph, session.embedder, now)
        memories = would_rest_on(answered.text, right, view, session.embedder, answered.at)
    not_learned = _not_learnable(judgement, right, memories, answered)
    with graph.writing():
        given = right if judgement is AnswerJudgement.ANSWER else None
        graph.learned.add_judgement(answered.id, judgement, given, at=now)
        graph.learned.drop_pairs_of(answered.id)
        if not not_learned:
            origin = (
                PairOrigin.JUDGED if judgement is AnswerJudgement.GOOD else PairOrigin.CORRECTED
            )
            graph.learned.add_pair(
                answered.text, right, memories, origin=origin, at=answered.at, turn=answered.id
            )
    return Judged(answered, judgement, tuple(memory.id for memory in memories), not_learned)


def _not_learnable(
    judgement: AnswerJudgement, right: str, memories: tuple[Memory, ...], turn: Turn
) -> str:
    """Why a judged answer teaches nothing about choosing memories; empty where it does."""
    if judgement is AnswerJudgement.BAD:
        return 'it does not say what is right; do: memlane feedback answer "..."'
    if not is_answer(right):
        return "that is no answer"
    if turn.trace.get("leans"):
        return "the question depends on the conversation before it"
    if judgement is AnswerJudgement.GOOD and not memories:
        return "the answer is based on no memory"
    return ""


def answered_turn(graph: MemoryGraph, turn: str | None) -> Turn:
    """The exchange of this id, or the last one that was an answer.

    :raises UnknownId: if there is none.
    """
    if turn is not None:
        found = graph.turns.get(turn)
        if found.trace.get("redacted"):
            raise UnknownId(f"What was answered in {found.id} is forgotten. Judge another turn.")
        if found.route == "update":
            raise UnknownId(f"{found.id} stated something and asked nothing. Judge another turn.")
        return found
    for found in reversed(graph.turns.last(100)):
        if found.route != "update" and not found.trace.get("redacted"):
            return found
    raise UnknownId('There is no answer to judge yet. Ask something first: memlane ask "..."')


def _rested_on(graph: MemoryGraph, turn: Turn) -> tuple[Memory, ...]:
    ids = [memory for memory in turn.trace.get("memories", ()) if isinstance(memory, str)]
    return tuple(m for m in graph.memories.of(ids) if m.status is Status.CURRENT)


def would_rest_on(
    asked: str, right: str, view: GraphView, embedder: Embedder, at: datetime
) -> tuple[Memory, ...]:
    """The memories that say what the person gave as the answer; none where nothing says it."""
    both = f"{asked} {right}"
    near = Fused(k=LOOKED_AT).select(Question(both, embedder.encode([both])[0], at), view).chosen
    found = tuple(choice.memory for choice in evidence(asked, right, near))
    wanted = terms(right)
    said = wanted & terms(" ".join(memory.text for memory in found))
    return found if len(said) >= SAID * len(wanted) else ()


@dataclass(frozen=True, slots=True)
class LearningStep:
    """A step of online learning."""

    policy: str
    episodes: int
    verdict: HeldBackVerdict
    kept: bool
    number: int


def learn(session: Session, policy: str) -> LearningStep | None:
    """Learn from what was judged and not learned from yet; None where there is nothing.

    The step is kept if it wins on what was judged lately, these exchanges and ones before them,
    or changes nothing there yet: several small steps may come to something.

    :raises ModelMissing: if the model that gives rewards is not installed; nothing is lost, the
        next training uses the same episodes.
    """
    graph, now = session.graph, session.config.now()
    judged = [pair for pair in graph.learned.pairs(now) if pair.turn]
    latest = [pair.id for pair in judged if not pair.learned][-LATEST:]
    before = [pair.id for pair in judged if pair.learned]
    there = collect(graph, session.embedder, now)
    episodes = there.with_keys(latest)
    if not episodes:
        return None
    old = starting_policy(session, policy)
    value = Watched(LikelihoodValue(session.rewards, there.references))
    known = sum(bool(episode.required) for episode in episodes)
    plan = Plan(policy, warm_start=STEPS * known, episodes=STEPS * len(episodes))
    new = train(old, episodes, value, plan)
    lately = [*before, *latest][-JUDGED_BY:]
    verdict = compare(old, new, there.with_keys(lately) or episodes, value)
    used = {memory for episode in episodes for memory in episode.required or ()} | value.memories
    moved = digest(new) != digest(old)
    wins = moved and (verdict.wins or verdict.after == verdict.before)
    kept = keep(session, plan, old, new, verdict, used, by="feedback", wins=wins)
    graph.learned.mark_learned(latest)
    return LearningStep(policy, len(episodes), verdict, kept.active, kept.number)
