"""This home made what all operations say, by entries of its own journal, so that undo works.

``apply`` is one transaction for all that changes, and after it one erasure for what is forgotten.
Killed anywhere it goes on the next time: what is still to be done is marked in the tables.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from agent.io.sync.capture import capture, digests, registers, standing, told_digests
from agent.io.sync.pairs import apply_pairs, capture_pairs
from agent.memory.uncertain.contradictions import contradicting
from store.graph import MemoryGraph
from store.journal import Change
from store.row_codecs import public_id, row_id
from store.sync.fold import Merged, merged
from store.sync.operations import GONE, Operation, Value, memory_of
from store.sync.tables import Known
from store.tables.side_tables.pending_questions import QuestionKind
from store.types import EditKind, Memory, Status


@dataclass
class Applied:
    """What changed in this home."""

    added: list[str] = field(default_factory=list)
    """Ids of memories that were not here."""
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    """Taken back elsewhere."""
    forgotten: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of memories that the person is asked about."""


@dataclass(frozen=True, slots=True)
class _Target:
    """What a memory shall be here."""

    known: Known
    what: Operation
    ends: Value
    pinned: bool
    actor: str

    @property
    def is_gone(self) -> bool:
        return bool(self.ends["status"] == GONE)


def apply(graph: MemoryGraph, now: datetime) -> Applied:
    """Carry out whatever this home has recorded and not yet done."""
    done = Applied()
    with graph.writing():
        capture(graph)
        capture_pairs(graph)
        doomed = _Work(graph, now, done).run()
        apply_pairs(graph)
        done.asked += _ask_what_contradicts(graph, {*done.added, *done.changed}, doomed, now)
        graph.sync.read_journal()
    if doomed:
        graph.erase(doomed, at=now, actor="user", elsewhere=True)
        done.forgotten += doomed
    return done


def _ask_what_contradicts(
    graph: MemoryGraph, came: Collection[str], doomed: Collection[str], now: datetime
) -> list[tuple[str, str]]:
    """Ask about what came and contradicts what was here; every home asks the same, once."""
    standing_here = [m for m in graph.memories.list(Status.CURRENT) if m.id not in doomed]
    new = [memory for memory in standing_here if memory.id in came]
    others = [memory for memory in standing_here if memory.id not in came]
    asked: list[tuple[str, str]] = []
    for one, other in contradicting(new, others):
        older, newer = sorted((one, other), key=lambda memory: (memory.created, memory.text))
        pair, turned = (older.id, newer.id), (newer.id, older.id)
        if graph.sync.is_new_question(*pair) and graph.sync.is_new_question(*turned):
            graph.questions.put(QuestionKind.HOLDS, pair, now)
            asked.append(pair)
    return asked


class _Work:
    """One pass over what is marked, in the caller's transaction."""

    def __init__(self, graph: MemoryGraph, now: datetime, done: Applied) -> None:
        self.graph, self.now, self.done = graph, now, done
        self.tables = graph.sync
        self.folded: dict[str, Merged] = {}
        self.targets: dict[str, _Target] = {}
        self.ids: dict[str, str] = {}
        """Of the memories that are here or come, by name."""
        self.batch: int | None = None

    def run(self) -> list[str]:
        """Change the memories that have to be; returns those that are to be erased."""
        marked = {known.gid: known for known in self.tables.dirty()}
        for known in list(marked.values()):
            marked |= {copy.gid: copy for copy in self._copies(known)}
        doomed = [memory for known in marked.values() if (memory := self._doomed(known))]
        for target in list(self.targets.values()):
            if target.is_gone and target.known.memory:
                self._add_replaced_by(target.known.memory)
        self._number()
        self._write()
        for gid, target in self.targets.items():
            self.tables.set_dirty(gid, not (self._ask(gid) and self._is_complete(target)))
        return doomed

    # ---- what each memory shall be ----------------------------------------------------------

    def _fold(self, gid: str) -> Merged:
        if gid not in self.folded:
            self.folded[gid] = merged(self.tables.heads(gid))
        return self.folded[gid]

    def _copy_name(self, gid: str, loser: Operation) -> str:
        return self.tables.digest("copy", gid, loser.says)

    def _copies(self, known: Known) -> tuple[Known, ...]:
        """The other versions of a memory, those that stand and those that no longer do."""
        for loser in self._fold(known.gid).losers:
            self.tables.copy(self._copy_name(known.gid, loser), known.gid)
        return self.tables.copies_of(known.gid)

    def _doomed(self, known: Known) -> str | None:
        """Plan a memory; returns its id if it is to be erased."""
        target = self._target(known)
        if target is not None:
            self.targets[known.gid] = target
        elif known.memory is None:
            self.tables.set_dirty(known.gid, False)
        else:
            self._bring_back(known.memory)
            return known.memory
        return None

    def _target(self, known: Known) -> _Target | None:
        """None where the memory is forgotten, or nothing is known of it yet."""
        if self.tables.forgotten(known.gid):
            return None
        own = self._fold(known.gid)
        if own.what is not None and own.ends is not None and own.ends.value is not None:
            pinned = bool(own.pinned and own.pinned.value and own.pinned.value["pinned"])
            return _Target(known, own.what, own.ends.value, pinned, _newest(own).actor)
        if known.copy_of is not None and not self.tables.ids(known.gid):
            for loser in self._fold(known.copy_of).losers:
                if self._copy_name(known.copy_of, loser) == known.gid:
                    ends = {"status": "current", "valid_until": loser.until, "replaced_by": None}
                    return _Target(known, loser, ends, False, loser.actor)
        return None

    def _bring_back(self, memory: str) -> None:
        """Erasing finds every trace of a memory that has a row; one taken back has none."""
        now = standing(self.graph, memory)
        if now is not None and now.memory is None:
            last = [change.before for change in now.entry.changes if change.memory == memory][-1]
            if last is not None:
                self._journal(EditKind.INSERT, (Change(memory, None, last),), "auto")

    def _add_replaced_by(self, memory: str) -> None:
        for other in self.graph.memories.replaced_by([memory]):
            known = self.tables.by_memory(other.id)
            if known is not None and known.gid not in self.targets:
                self._doomed(known)

    # ---- writing ----------------------------------------------------------------------------

    def _number(self) -> None:
        """Ids for the memories that come, in the order in which they were told."""
        coming = []
        for gid, target in self.targets.items():
            if target.known.memory is not None:
                self.ids[gid] = target.known.memory
            elif not target.is_gone:
                coming.append((target.what.value or {}, gid))
        coming.sort(key=_told_at)
        first = row_id("m", self.tables.next_memory(), "memory")
        self.ids |= {gid: public_id("m", first + n) for n, (_, gid) in enumerate(coming)}

    def _memory_here(self, gid: str | None) -> str | None:
        if gid in self.targets:
            return None if self.targets[gid].is_gone else self.ids[gid]
        return self.tables.memory_here(gid)

    def _is_complete(self, target: _Target) -> bool:
        """Whether everything that a memory refers to is here, or never comes."""
        by, source = target.ends["replaced_by"], (target.what.value or {})["source"]
        return (by is None or self._memory_here(by) is not None or self.tables.forgotten(by)) and (
            source is None or self.graph.shared_sources.here(source) is not None
        )

    def _write(self) -> None:
        changes: dict[str, tuple[Change, str]] = {}
        for gid, target in self.targets.items():
            if gid not in self.ids:
                continue  # taken back before it came here
            here = target.known.memory
            before = None if here is None else standing(self.graph, here)
            after = self._memory(target)
            old = None if before is None else before.memory
            if old != after:
                changes[self.ids[gid]] = Change(self.ids[gid], old, after), target.actor
        order = sorted(changes, key=lambda memory: row_id("m", memory, "memory"))
        for memory in order:
            if memory in changes:
                self._change(*changes.pop(memory), changes)
        written = [gid for gid in self.targets if gid in self.ids]
        for gid in written:
            self.tables.name(gid, self.ids[gid])
        for gid in written:
            self._settle(gid)

    def _memory(self, target: _Target) -> Memory | None:
        if target.is_gone:
            return None
        what = target.what.value or {}
        self.tables.ensure_subclass(what["subclass"], what["type"])
        return memory_of(
            self.ids[target.known.gid],
            what,
            target.ends,
            target.pinned,
            self._memory_here,
            self.graph.shared_sources.here,
        )

    def _change(self, change: Change, actor: str, others: dict[str, tuple[Change, str]]) -> None:
        before, after = change.before, change.after
        changes: tuple[Change, ...] = (change,)
        if after is None:
            self.done.removed.append(change.memory)
            self._journal(EditKind.FORGET, changes, actor)
            return
        if before is None:
            self.done.added.append(change.memory)
            kind = EditKind.INSERT if after.valid_until is None else EditKind.EXPIRE
            self._journal(kind, changes, actor)
            return
        self.done.changed.append(change.memory)
        kind = EditKind.AMEND
        if after.status is not before.status:
            kind = EditKind.FORGET if after.status is Status.FORGOTTEN else EditKind.EXPIRE
        new = others.get(after.replaced_by or "")
        if new is not None and new[0].before is None:
            # One edit there is one edit here, and is undone as one.
            del others[new[0].memory]
            self.done.added.append(new[0].memory)
            kind, changes = EditKind.REPLACE, (change, new[0])
        self._journal(kind, changes, actor)

    def _journal(self, kind: EditKind, changes: tuple[Change, ...], actor: str) -> None:
        for change in changes:
            self.graph.memories.set(change)
        last = changes[-1].after
        entry = self.graph.journal.append(
            kind,
            changes,
            at=self.now,
            actor=actor,
            source=None if last is None else last.source,
            batch=self.batch,
        )
        self.batch = entry.batch

    def _settle(self, gid: str) -> None:
        """Note what stands here now, so that only later edits are told."""
        known = self.tables.by_name(gid)
        assert known is not None
        now = standing(self.graph, self.ids[gid])
        memory = None if now is None else now.memory
        prints = digests(self.graph, registers(self.graph, memory))
        says = None if memory is None else self.tables.says(memory.text)
        self.tables.put(gid, self.ids[gid], {**told_digests(known), **prints}, says)

    # ---- questions --------------------------------------------------------------------------

    def _ask(self, gid: str) -> bool:
        """Put what homes disagree about to the person; False if a memory of it is yet to come."""
        fold = self._fold(gid)
        pairs = [(self._copy_name(gid, loser), fold.successor or gid) for loser in fold.losers]
        pairs += [(rival, fold.rivals[-1]) for rival in fold.rivals[:-1]]
        here = [(self._memory_here(one), self._memory_here(other)) for one, other in pairs]
        for one, other in here:
            if one and other and self.tables.is_new_question(one, other):
                self.graph.questions.put(QuestionKind.HOLDS, (one, other), self.now)
                self.done.asked.append((one, other))
        return all(one and other for one, other in here)


def _told_at(coming: tuple[Value, str]) -> tuple[datetime, str, list[int], str]:
    what, gid = coming
    return datetime.fromisoformat(what["created"]), what["source"] or "", what["span"] or [], gid


def _newest(fold: Merged) -> Operation:
    return max(filter(None, (fold.what, fold.ends, fold.pinned)), key=lambda one: one.ms)
