"""Write pipeline: raw source, drafts, edits.

Invariant: the source is stored before this begins, and its end (memories and the mark EXTRACTED)
is one transaction. Whatever happens between, the raw text stays and can be taken up again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache

from agent.extraction.drafts import drafts_of_document, make_drafts
from agent.extraction.extract import extract
from agent.extraction.ratings.parse import split_ratings
from agent.extraction.told import left_out
from agent.extraction.triples.read import ME
from agent.extraction.verbatim import facts
from agent.language.identify import is_english
from agent.language.redaction import redact, what_is_gone
from agent.language.validation import checked_message, checked_time
from agent.memory.changes import Judgements, judge_ahead, possible_changes
from agent.memory.editing.candidates import Nearby
from agent.memory.editing.conflicts import ask
from agent.memory.editing.judges.pair_judge import Judgement, Pair, PairJudge
from agent.memory.editing.plan import EditPlan, leftovers, plan_edits
from agent.memory.editing.replacing import changeable, follows, sure_replacements
from agent.memory.entities.aliases import in_names_of, mixed_up, other_slots
from agent.memory.entities.events import EventsBeside
from agent.memory.entities.identity import Identities
from agent.memory.entities.names import key_of
from agent.memory.gloss import Glosses
from agent.memory.home import Home, Models
from agent.memory.passages import texts_of_passages
from agent.memory.ratings import plan_ratings, with_ratings
from agent.memory.uncertain.trust import within_trust
from agent.memory.vectors.waiting import ensure_vectors_for
from agent.models.readers.second_reader import second_reader
from agent.ports import Embedder, SecretReader, Vectors
from agent.results import Remembered
from store.derived.partitions import NearMemory
from store.errors import EditConflict, InvalidInput, MemlaneError
from store.graph import MemoryGraph
from store.journal import Edit, Entry, Forget, Insert, Replace, checked_text
from store.tables.side_tables.pending_questions import QuestionKind
from store.types import Draft, EditKind, Memory, Source, SourceKind, SourceStatus, Status

DOCUMENTS = (
    SourceKind.NOTE,
    SourceKind.SCREENSHOT,
    SourceKind.DOCUMENT,
    SourceKind.MAIL,
)
"""Sources that are read in their own words, without a model."""
ATTEMPTS = 3
"""How often a plan is made anew when another process changed the memories meanwhile."""
MOST_WORDS = 60
"""Words of a text that memories without a vector are looked for with."""


def draft_memories(
    source: Source, graph: MemoryGraph, models: Models, now: datetime, told: str = ""
) -> tuple[Draft, ...]:
    """Read the memories out of a source's text, or of ``told``, what of it is told."""
    if source.kind in DOCUMENTS:
        layout = graph.sources.layout(source.id)
        own = own_addresses(graph) if source.kind is SourceKind.MAIL else ()
        return drafts_of_document(source, layout, models.placer.place, own)
    rated, text = split_ratings(told or source.text)
    said = (*rated, *extract(text))
    reader = models.statements
    drafts = make_drafts(said, models.placer.place(said), source, llm=models.llm, reader=reader)
    if reader is None or source.kind is not SourceKind.CHAT or told not in ("", source.text):
        return drafts
    missed = left_out(source.text, drafts, reader)
    placed = models.placer.place(missed)
    return (*drafts, *make_drafts(missed, placed, source, llm=None, reader=reader))


def own_addresses(graph: MemoryGraph) -> frozenset[str]:
    """The mail addresses that the person has told, in small letters."""
    return frozenset(
        triple.tail.strip().lower()
        for triple, _ in graph.memories.neighbours(ME)
        if triple.head == ME and triple.relation == "email"
    )


def keep(
    graph: MemoryGraph,
    text: str,
    *,
    said: datetime,
    place: str | None = None,
    expires: datetime | None = None,
    keep_secrets: bool = False,
    secrets: SecretReader | None = None,
) -> Source:
    """Store a text that is to be remembered as it stands; ``remember_as_said`` does the rest.

    Its secrets are taken out before (``agent.language.redaction``), unless the person wants them
    kept.

    :raises InvalidInput: if it is empty, too long, or expires before it was said.
    """
    fact = checked_text(text)
    for moment in (said, expires):
        if moment is not None:
            checked_time(moment)
    if expires is not None and expires <= said:
        raise InvalidInput(
            f"It would expire ({expires:%Y-%m-%d %H:%M}) before it was said "
            f"({said:%Y-%m-%d %H:%M}). Give a later --expires or an earlier --at."
        )
    if not keep_secrets:
        fact = redact(fact, reader=secrets).text
        place = place and redact(place, reader=secrets).text
    return graph.sources.add(SourceKind.MANUAL, fact, said, place=place, expires=expires)


def remember_as_said(
    source: Source, graph: MemoryGraph, models: Models, now: datetime
) -> Remembered:
    """Make memories of a kept text: no model rewrites it (the paper's passive remember).

    :raises MemlaneError: what stood in the way, after the source is marked FAILED.
    """
    try:
        said = facts(source.text)
        placed = models.placer.place(said)
        drafts = make_drafts(said, placed, source, llm=None, reader=models.statements)
        if source.expires is not None:
            drafts = tuple(replace(draft, valid_until=source.expires) for draft in drafts)
        return store_drafts(drafts, source, graph, models, now, actor="user")
    except MemlaneError as error:
        graph.sources.mark(source.id, SourceStatus.FAILED, str(error))
        raise


def edit_by_hand(
    home: Home,
    text: str,
    make: Callable[[Draft], Edit],
    *,
    subclass: str | None = None,
    expires: datetime | None = None,
    place: str | None = None,
) -> tuple[Entry, ...]:
    """Apply the one edit that ``make`` builds of a typed text; nothing is planned or guessed.

    With ``subclass`` no model is needed; its vector is made when it is next searched.
    """
    graph, now = home.graph, home.config.now()
    message = checked_text(without_secrets(home, checked_message(text)))
    place = place and without_secrets(home, place)
    subclass = subclass or home.placer.place([message])[0]
    with graph.writing():
        source = graph.sources.add(SourceKind.MANUAL, message, now, place=place)
        (draft,) = make_drafts([message], [subclass], source, llm=None)
        if expires is not None:
            draft = replace(draft, valid_until=expires)
        entries = graph.apply([make(draft)], at=now, actor="user", source=source.id)
        graph.sources.mark(source.id, SourceStatus.EXTRACTED)
    return entries


def without_secrets(home: Home, text: str, kept: str = "") -> str:
    """The text as it may be stored: without secrets, unless the person keeps them.

    ``kept`` is the text that it takes the place of; a secret that is there already stays.
    """
    return text if home.config.keep_secrets else redact(text, kept, home.secrets).text


def remember_source(
    source: Source, graph: MemoryGraph, models: Models, now: datetime, *, told: str = ""
) -> Remembered:
    """Take a stored source all the way; on failure it is marked FAILED and kept.

    :raises MemlaneError: what stood in the way, after the mark.
    """
    try:
        drafts = draft_memories(source, graph, models, now, told)
        if source.kind is SourceKind.CHAT and not is_english(source.text):
            # Before the write transaction: a model may take a second for each.
            glosses = Glosses(graph.path.parent, models.llm)
            for text in texts_of_passages(source):
                if not is_english(text):
                    glosses.make(text)
        return store_drafts(drafts, source, graph, models, now)
    except MemlaneError as error:
        graph.sources.mark(source.id, SourceStatus.FAILED, str(error))
        raise


def store_drafts(
    drafts: Sequence[Draft],
    source: Source,
    graph: MemoryGraph,
    models: Models,
    now: datetime,
    *,
    actor: str = "auto",
) -> Remembered:
    """Plan and apply the drafts of a source, and mark it EXTRACTED, in one transaction.

    :raises EditConflict: if other processes change the same memories again and again.
    """
    embedder = models.embedder
    vectors = dict(
        zip((d.text for d in drafts), embedder.encode([d.text for d in drafts]), strict=True)
    )
    judged = Judgements()
    # What is kept as it was said, or read in files, waits for no language model.
    second = second_reader(models.llm) if source.kind is SourceKind.CHAT else None
    for attempt in range(1, ATTEMPTS + 1):
        plan = plan_against(drafts, vectors, graph, models, now)
        # A partial update makes a sentence that is in no draft, and so does a day it means.
        _encode(plan, vectors, embedder)
        plan = judge_ahead(plan, vectors, graph, models, now, judged, second)
        _encode(plan, vectors, embedder)
        try:
            return _apply(plan, source, graph, models, vectors, now, actor, judged)
        except EditConflict:
            if attempt == ATTEMPTS:
                raise
    raise AssertionError("unreachable")


def _encode(plan: EditPlan, vectors: dict[str, Vectors], embedder: Embedder) -> None:
    """Add the vectors of sentences that have none yet."""
    texts = [edit.draft.text for edit in plan.edits if isinstance(edit, Insert | Replace)]
    if made := [text for text in texts if text not in vectors]:
        vectors.update(zip(made, embedder.encode(made), strict=True))


def plan_against(
    drafts: Sequence[Draft],
    vectors: dict[str, Vectors],
    graph: MemoryGraph,
    models: Models,
    now: datetime,
) -> EditPlan:
    """Plan drafts against what holds now, looking into the partitions nearest to each."""
    said = " ".join(draft.text for draft in drafts)
    nearby = _nearby(graph, models.embedder, now, said)
    pairs = _judge(models.embedder.identity)

    def judge(found: Sequence[tuple[Draft, NearMemory]]) -> Sequence[Judgement]:
        return pairs.judge(
            [
                Pair(draft.text, match.memory, match.score, nearby.vector(match.memory.id))
                for draft, match in found
            ]
        )

    known = Identities.of(graph, now)
    events = EventsBeside(graph, known, drafts)

    @cache
    def near(draft: Draft) -> Sequence[NearMemory]:
        means = {key_of(m.text): m.who for m in known.mentions(draft.text, draft.created)}
        return [
            match
            for match in nearby.to(draft, vectors[draft.text], called=other_slots(draft, known))
            # The boss of last year, or the same flight of another day, is not what it is about.
            if not mixed_up(means, match.memory, known) and not events.apart(draft, match.memory)
        ]

    def worded(draft: Draft) -> Callable[[Memory], Draft]:
        return in_names_of(draft, known)

    rated, others = plan_ratings(drafts, graph, now)
    nearby.look(others, vectors)
    subclasses = {s.id: s for s in graph.subclasses()}
    may_change = changeable(graph, models.statements)
    after = None if models.statements is None else follows(models.statements)
    plan = plan_edits(others, near, subclasses, judge, worded, after, may_change)
    if models.statements is not None:
        plan = sure_replacements(plan, graph, models.statements, worded)
    plan = with_ratings(plan, rated)
    return within_trust(plan, drafts, graph.memories.get, near, may_change)


def _nearby(graph: MemoryGraph, embedder: Embedder, now: datetime, text: str) -> Nearby:
    """The search at ``now``, with vectors for those of the memories that the text may be about."""
    if graph.index(embedder.identity, now).lacks_vectors:
        # Names and numbers tell memories apart, and words of three letters hardly ever do.
        words = [w for w in text.split() if len(w) > 3 or not w.islower()]
        ensure_vectors_for(words[:MOST_WORDS], graph, embedder)
    return Nearby(graph, embedder.identity, now)


_judge = cache(PairJudge.shipped)


def _apply(
    plan: EditPlan,
    source: Source,
    graph: MemoryGraph,
    models: Models,
    vectors: dict[str, Vectors],
    now: datetime,
    actor: str,
    judged: Judgements,
) -> Remembered:
    with graph.writing():
        if graph.sources.get(source.id).status is SourceStatus.EXTRACTED:
            # Another process finished this very source while we were extracting it.
            return Remembered(graph.sources.get(source.id), (), ())
        gone = [
            memory
            for old in _older_versions(source, graph)
            for memory in leftovers(
                plan,
                [
                    memory
                    for memory in graph.memories.made_from(old.id)
                    if memory.status is Status.CURRENT and not memory.pinned
                ],
            )
        ]
        entries = graph.apply(
            (*plan.edits, *(Forget(memory) for memory in gone)),
            at=now,
            actor=actor,
            source=source.id,
            model=models.embedder.identity,
            vectors=vectors,
        )
        for old in _older_versions(source, graph):
            graph.sources.mark(old.id, SourceStatus.SUPERSEDED)
        graph.sources.mark(source.id, SourceStatus.EXTRACTED)
        made = {
            change.after.text: change.after
            for entry in entries
            for change in entry.changes
            if change.after is not None
        }
        doubts = tuple(
            (graph.memories.get(question.memory), made[question.text])
            for question in plan.questions
            if question.text in made
        )
        for old_memory, new in doubts:
            graph.questions.put(QuestionKind.HOLDS, (old_memory.id, new.id), now)
        inserted = [memory for memory in made.values() if memory.source == source.id]
        replaced = [
            (entry.changes[0].memory, entry.changes[-1].memory)
            for entry in entries
            if entry.kind is EditKind.REPLACE
        ]
        changes = possible_changes(inserted, replaced, graph, models, now, judged)
        graph.change_edges.put(changes, now)
    return Remembered(
        graph.sources.get(source.id),
        entries,
        plan.unchanged,
        doubts,
        note=what_is_gone(source.text),
        questions=tuple(ask(old.text, new.text) for old, new in doubts),
    )


def _older_versions(source: Source, graph: MemoryGraph) -> tuple[Source, ...]:
    """What the same file gave before it changed."""
    if source.locator is None:
        return ()
    return tuple(
        old
        for old in graph.sources.all_from(source.locator)
        if old.status is not SourceStatus.SUPERSEDED and old.id != source.id
    )
