"""What an edit does to what is stored: ``python -m benchmarks.editing --data DIR [--quick]``.

CarMem's maintenance utterances, through the product's own way (drafts, the search for what they may
be about, ``plan_against``): an utterance that repeats a stored preference must store nothing, one
that denies it must put it out, another value must stand beside it where several are allowed and
take its place where one is. The user's ten preferences are stored as sentences whose shape the seed
draws, because nobody says in which words a preference was remembered. Nothing is fitted here: the
shipped weights know only sentences we wrote. Two other runs frame that figure: training on the
other users' pairs (an upper reference that may not ship), and the yardsticks 'always append' and a
few-shot prompt.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np

from agent.config import load_config
from agent.extraction.drafts import make_drafts
from agent.extraction.subclass_classifier import Placer
from agent.memory import remember
from agent.memory.editing.candidates import Nearby
from agent.memory.editing.judges.pair_judge import PairJudge
from agent.memory.editing.plan import EditPlan
from agent.memory.remember import plan_against
from agent.memory.vectors.waiting import ensure_vectors
from agent.models.lazy import LocalEmbedder, LocalLanguageModel, LocalReader
from agent.models.readers.local_secret_reader import LocalSecretReader
from agent.models.readers.local_statement_reader import statement_reader
from agent.ports import (
    ChatTurn,
    Embedder,
    LanguageModel,
    SecretReader,
    StatementReader,
    TextReader,
    Vectors,
)
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.training.editing_own import Pair
from benchmarks.training.editing_own import pairs as own_pairs
from benchmarks.training.editing_train import fit
from benchmarks.training.routing_train import VectorCache
from store.graph import MemoryGraph
from store.journal import Insert, Replace
from store.types import Draft, Source, SourceKind

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
NOTHING, CHANGE, APPEND = "nothing", "change", "append"
ROLES = ("equal", "negate", "different")
SHAPES = (
    "My {detail} is {value}.",
    "{Detail}: {value}",
    "{sub}; {detail}; {value}",
    "{main}; {sub}; {Detail}; {value}",
    "For {sub}, my {detail} is {value}.",
    "The user's {detail} ({sub}) is {value}.",
    "I prefer {value} ({detail}).",
)
"""Ways in which a preference may have been remembered."""
_SYSTEM = (
    "A car remembers what its driver prefers. You are shown an old preference and a new message. "
    "Answer with one word: NOTHING if the message agrees with the old preference, CHANGE if the "
    "old preference no longer holds, APPEND if the message adds another preference beside it."
)
_SHOTS = (
    ("Seat position: upright", "Set my seat upright, please.", "NOTHING"),
    ("Favourite bakery: Crumb & Crust", "I no longer go to Crumb & Crust.", "CHANGE"),
    ("Favourite bakery: Crumb & Crust", "I also like the Flour Mill.", "APPEND"),
    ("Seat position: upright", "I want to lean back from now on.", "CHANGE"),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A maintenance utterance: what it is about, and what it should do."""

    about: int
    role: str
    text: str
    several: bool

    @property
    def wanted(self) -> str:
        if self.role == "equal":
            return NOTHING
        return APPEND if self.role == "different" and self.several else CHANGE


@dataclass(frozen=True, slots=True)
class User:
    """The stored preferences of one user, and the utterances about them."""

    memories: tuple[str, ...]
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Models:
    """What planning needs; the language model is never asked."""

    llm: LanguageModel
    embedder: Embedder
    reader: TextReader
    placer: Placer
    statements: StatementReader | None
    secrets: SecretReader


class Remembering:
    """The encoder with what it encoded once: the same sentences come again and again."""

    def __init__(self, cache: VectorCache) -> None:
        self._cache = cache
        self.identity = cache.embedder.identity
        self.dimension = cache.embedder.dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        return self._cache.encode(texts)


def load_users(data: Path, seed: int, limit: int | None = None) -> list[User]:
    """CarMem's development users, their preferences in sentences that the seed draws."""
    rng = random.Random(seed)
    users = []
    with (data / "carmem" / "dataset.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows[:limit]:
        memories, asked = [], []
        for i, (preference, told) in enumerate(
            zip(row["user_preferences"], row["data"], strict=True)
        ):
            detail = preference["Detail Category"]
            memory = rng.choice(SHAPES).format(
                detail=detail[0].lower() + detail[1:],
                Detail=detail,
                sub=preference["Subcategory"],
                main=preference["Main Category"],
                value=preference["Attributes"],
            )
            memories.append(memory[0].upper() + memory[1:])
            several = preference["Preference Type"] == "MP"
            asked += [
                Asked(
                    i, role, told["maintenance_questions"][f"question_{role}_preference"], several
                )
                for role in ROLES
            ]
        users.append(User(tuple(memories), tuple(asked)))
    return users


def drafts_of(texts: Sequence[str], models: Models, source: str = "s1") -> list[Draft]:
    placed = models.placer.place(texts)
    made: list[Draft] = []
    for text, subclass in zip(texts, placed, strict=True):
        origin = Source(source, SourceKind.CHAT, text, "", NOW)
        made += make_drafts([text], [subclass], origin, llm=None)
    return made


def operation(plan: EditPlan, memory: str) -> tuple[str, bool]:
    """What the plan does, and whether to the right memory (a new one touches none)."""
    if plan.unchanged:
        return NOTHING, plan.unchanged[0] == memory
    match plan.edits:
        case (Replace(old, _), *_):
            return CHANGE, old == memory
        case (Insert(_), *_):
            return APPEND, True
    return NOTHING, False


def measure(users: Sequence[User], models: Models, tally: dict[str, list[float]]) -> None:
    """Plan every utterance against its user's memories; nothing is applied."""
    for user in users:
        with tempfile.TemporaryDirectory() as folder, MemoryGraph.open(Path(folder)) as graph:
            source = graph.sources.add(SourceKind.MANUAL, "preferences", NOW)
            stored = drafts_of(user.memories, models, source.id)
            entries = graph.apply([Insert(draft) for draft in stored], at=NOW)
            ids = [entry.memory for entry in entries]
            ensure_vectors(graph, models.embedder)
            nearby = Nearby(graph, models.embedder.identity, NOW)
            said = graph.sources.add(SourceKind.MANUAL, "utterances", NOW)
            drafts = drafts_of([asked.text for asked in user.asked], models, said.id)
            encoded = models.embedder.encode([asked.text for asked in user.asked])
            for asked, draft, vector in zip(user.asked, drafts, encoded, strict=True):
                found = [match.memory.id for match in nearby.to(draft, vector)]
                start = time.perf_counter()
                plan = plan_against([draft], {draft.text: vector}, graph, models, NOW)
                tally["plan_ms"].append(1000 * (time.perf_counter() - start))
                done, right_memory = operation(plan, ids[asked.about])
                count = "several" if asked.several else "one"
                right = done == asked.wanted
                tally["retrieval.recall@1"].append(ids[asked.about] in found[:1])
                tally["retrieval.recall@3"].append(ids[asked.about] in found[:3])
                tally["operation.accuracy"].append(right)
                tally["operation.accuracy_and_right_memory"].append(right and right_memory)
                tally[f"operation.{count}_allowed"].append(right)
                tally[f"operation.{asked.role}"].append(right)
                tally[f"operation.{asked.role}.{count}_allowed"].append(right)
                tally["always_append.accuracy"].append(asked.wanted == APPEND)
                tally["asks_the_person"].append(bool(plan.questions))


def training_pairs(users: Iterable[User], seed: int) -> list[Pair]:
    """Pairs of other users, for the reference that learns from the same domain."""
    rng = random.Random(seed)
    label = dict(zip(ROLES, ("same", "negated", "other"), strict=True))
    made = []
    for number, user in enumerate(users):
        for asked in user.asked:
            old, group = user.memories[asked.about], f"user {number}"
            made.append(Pair(old, asked.text, label[asked.role], not asked.several, group))
            far = rng.choice([m for i, m in enumerate(user.memories) if i != asked.about])
            made.append(Pair(far, asked.text, "apart", not asked.several, group))
    return made


def cross_validated(
    users: Sequence[User], models: Models, cache: VectorCache, seed: int, folds: int = 3
) -> dict[str, float]:
    """The upper reference: own pairs and those of other users, each user judged by strangers."""
    order = list(range(len(users)))
    random.Random(seed).shuffle(order)
    tally: dict[str, list[float]] = defaultdict(list)
    for fold in range(folds):
        held = set(order[fold::folds])
        seen = [user for i, user in enumerate(users) if i not in held]
        rows = own_pairs(0) + training_pairs(seen, seed) * 2
        judge = PairJudge(fit(rows, cache), cache.embedder.identity)
        with patch.object(remember, "_judge", lambda _encoder, judge=judge: judge):
            measure([users[i] for i in sorted(held)], models, tally)
    return {
        "in_domain.accuracy": statistics.fmean(tally["operation.accuracy"]),
        "in_domain.one_allowed": statistics.fmean(tally["operation.one_allowed"]),
        "in_domain.several_allowed": statistics.fmean(tally["operation.several_allowed"]),
    }


def prompted(
    users: Sequence[User], llm: LanguageModel, count: int, ours: Sequence[float]
) -> dict[str, float]:
    """The yardstick: a few-shot prompt that is shown the right old preference.

    ``ours`` says of each utterance whether the product was right, so that both are compared on
    the same ones; the product has to find the old preference first.
    """
    rows = [(user.memories[a.about], a) for user in users for a in user.asked]
    sample = random.Random(0).sample(range(len(rows)), min(count, len(rows)))
    rows = [rows[index] for index in sample]
    right: dict[str, list[bool]] = defaultdict(list)
    said: Counter[str] = Counter()
    for old, asked in rows:
        turns = [ChatTurn("system", _SYSTEM)]
        for shot_old, shot_new, answer in _SHOTS:
            turns.append(ChatTurn("user", f"Old: {shot_old}\nNew message: {shot_new}"))
            turns.append(ChatTurn("assistant", answer))
        turns.append(ChatTurn("user", f"Old: {old}\nNew message: {asked.text}"))
        reply = llm.chat(turns, max_tokens=4).strip().upper()
        done = next((o for o in (NOTHING, CHANGE, APPEND) if reply.startswith(o.upper()[:4])), "")
        said[done] += 1
        right["accuracy"].append(done == asked.wanted)
        right[asked.role].append(done == asked.wanted)
    progress(f"prompt said {dict(said)}")
    return {f"prompt.{k}": statistics.fmean(v) for k, v in right.items()} | {
        "prompt.n": len(rows),
        "prompt.operation.accuracy_on_the_same": statistics.fmean(ours[i] for i in sample),
    }


def stories(data: Path, models: Models, limit: int | None) -> dict[str, float]:
    """What must stand together: LoCoMo's observations of six people, told one after another.

    Hardly any of them takes back an earlier one, so what is replaced or not stored is lost.
    """
    with (data / "locomo" / "locomo_dev3.json").open(encoding="utf-8") as file:
        talks = json.load(file)
    told = lost = asked = 0
    for talk in talks[:limit]:
        sessions = sorted(talk["observation"], key=lambda name: int(name.split("_")[1]))
        for who in sorted({name for told_in in talk["observation"].values() for name in told_in}):
            texts = [
                first_person(row[0], who)
                for name in sessions
                for row in talk["observation"][name].get(who, [])
            ]
            with tempfile.TemporaryDirectory() as folder, MemoryGraph.open(Path(folder)) as graph:
                for draft in drafts_of(texts, models):
                    source = graph.sources.add(SourceKind.CHAT, draft.text, NOW)
                    done = remember.store_drafts(
                        [replace(draft, source=source.id)], source, graph, models, NOW
                    )
                    told += 1
                    lost += bool(done.unchanged) or any(
                        entry.kind == "replace" for entry in done.entries
                    )
                    asked += bool(done.open)
    return {"stories.lost": lost / told, "stories.asked": asked / told, "stories.n": told}


def first_person(text: str, who: str) -> str:
    """'Anna is proud of her son' -> 'I am proud of my son', near enough."""
    verbs = {"is": "am", "has": "have", "does": "do", "was": "was"}
    text = re.sub(rf"\b{who}'s\b", "my", text)
    text = re.sub(rf"\b{who} (is|was|has|does)\b", lambda m: f"I {verbs[m[1]]}", text)
    text = re.sub(rf"\b{who}\b", "I", text)
    text = re.sub(r"\b(?:her|his)\b", "my", text)
    return text[0].upper() + text[1:]


def medians(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def main() -> None:
    options = parser("editing", __doc__.splitlines()[0])
    options.add_argument("--llm", type=int, default=0, metavar="N", help="prompt yardstick on N")
    given = options.parse_args()
    config = load_config()
    cache = VectorCache(LocalEmbedder(config))
    embedder = Remembering(cache)
    with tempfile.TemporaryDirectory() as folder, MemoryGraph.open(Path(folder)) as graph:
        placer = Placer(graph.subclasses(), embedder)
    statements = statement_reader(config, embedder.identity)
    models = Models(
        LocalLanguageModel(config), embedder, LocalReader(config), placer, statements,
        LocalSecretReader(config),
    )  # fmt: skip
    limit = 6 if given.quick else None
    seeds = range(1 if given.quick else given.seeds)
    runs = []
    first: list[float] = []  # of seed 0, utterance by utterance
    for seed in seeds:
        users = load_users(given.data, seed, limit)
        texts = {t for u in users for t in (*u.memories, *(a.text for a in u.asked))}
        cache.encode(sorted(texts))
        tally: dict[str, list[float]] = defaultdict(list)
        measure(users, models, tally)
        first = first or tally["operation.accuracy"]
        figures = {name: statistics.fmean(found) for name, found in tally.items()}
        figures["plan_ms"] = statistics.median(tally["plan_ms"])
        progress(f"seed {seed}: {figures['operation.accuracy']:.3f}")
        figures |= cross_validated(users, models, cache, seed, 2 if given.quick else 3)
        runs.append(figures)
    figures = medians(runs) | {"utterances": len(tally["plan_ms"]), "users": len(users)}
    accuracies = [run["operation.accuracy"] for run in runs]
    figures["operation.accuracy.spread"] = float(np.ptp(accuracies))
    figures |= stories(given.data, models, 1 if given.quick else None)
    setting = {
        "quick": given.quick,
        "encoder": cache.embedder.identity,
        "weights": "benchmarks.editing_train: sentences we wrote",
        "llm": config.llm if given.llm else None,
    }
    write_results("editing", setting, list(seeds), figures)
    if given.llm:  # last and apart: it takes minutes
        figures |= prompted(load_users(given.data, 0, limit), models.llm, given.llm, first)
        write_results("editing", setting, list(seeds), figures)
    for name, value in sorted(figures.items()):
        print(f"{name:<40} {value:.3f}")


if __name__ == "__main__":
    main()
