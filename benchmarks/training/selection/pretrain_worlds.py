"""What the shipped policies learn from: simulated lives and people, told in many ways.

Everything here is written by us and drawn by chance from the seed; of the simulated lives the
training bank alone. So that what is learned holds beyond them, a world is

- a life as it was told (``lives_world``), or as it stands once its edits are made;
- a conversation of two lives, turn by turn in sessions, asked about in the third person, with
  questions, short replies, echoes and small talk between;
- some people with their attributes, in English or Chinese (``pretrain_people``);
- things that were told bit by bit (``pretrain_bundles``);
- a diary of many lines that are nearly the same (``pretrain_ledger``);
- hundreds or thousands of such lines (``pretrain_crowd``);

with further memories that have nothing to do with it, with or without places in the taxonomy and
relations, with questions in rougher words, and with questions whose answer was never told.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from agent.language.dates import resolve_text
from benchmarks.shared.questions.qa_data import Collection, Item, simulated
from benchmarks.shared.simulated_lives.lives_train import BANK
from benchmarks.shared.simulated_lives.lives_world import Life, Told, write_life
from benchmarks.training.selection.pretrain_bundles import write_bundles
from benchmarks.training.selection.pretrain_crowd import write_crowd
from benchmarks.training.selection.pretrain_ledger import write_ledger
from benchmarks.training.selection.pretrain_people import (
    CHINESE,
    ENGLISH,
    PLANS,
    PLANS_IN_CHINESE,
    Fact,
    Query,
    Tongue,
    write_people,
)
from store.tables.taxonomy import SUBCLASSES
from store.types import Memory, Triple

PRESENT = ("now", "chain", "reminder", "taste")
UNTOLD = 0.05
"""Of facts, the share that was never told: for questions about them nothing should be chosen."""
BESIDE = 0.5
"""Of worlds, the share with memories that have nothing to do with what is asked."""
MANY = 4
"""Facts of which one may lack without the question losing its sense."""
_TYPES = {subclass.id: subclass.type for subclass in SUBCLASSES}
_BARE = SUBCLASSES[-1]
_START = datetime(2023, 1, 2, 9, 0, tzinfo=UTC)
_SPEAKERS = (
    "Anna", "Ben", "Carla", "Diego", "Eva", "Felix", "Greta", "Hugo", "Iris", "Jonas", "Kira",
    "Leo", "Mona", "Nils", "Olga", "Paul", "Rita", "Sven", "Tara", "Uwe",
)  # fmt: skip


def write_worlds(seed: int, count: int) -> list[Collection]:
    """``count`` worlds of all kinds in turn; the same for the same seed."""
    return [_KINDS[n % len(_KINDS)]((seed + 1) * 10_000 + n) for n in range(count)]


# ---- lives --------------------------------------------------------------------------------------


def as_told(seed: int) -> Collection:
    """A life that nobody edited: what was replaced stands beside what replaced it."""
    rng = random.Random(f"told {seed}")
    life = simulated(BANK, seed)
    return _varied(replace(life, name=f"told {seed}"), rng, ENGLISH)


def as_edited(seed: int) -> Collection:
    """A life at the end of a week, without what was replaced or has ended by then."""
    rng = random.Random(f"edited {seed}")
    life = simulated(BANK, seed)
    moment = rng.choice(sorted({item.asked for item in life.items}))
    newest: dict[tuple[str, str], str] = {}
    for memory in life.memories:
        if memory.created <= moment and (memory.valid_from or memory.created) <= moment:
            for triple in memory.triples:
                newest[triple.head, triple.relation] = memory.id
    lists = ("likes", "is_at")  # several hold beside one another
    kept = tuple(
        memory
        for memory in life.memories
        if memory.holds_at(moment)
        and memory.created <= moment
        and all(t.relation in lists or newest.get((t.head, t.relation)) == memory.id
                for t in memory.triples)
    )  # fmt: skip
    known = {memory.id for memory in kept}
    items = tuple(
        item
        for item in life.items
        if item.asked == moment
        and item.kind in (*PRESENT, "gone")
        and (item.required or frozenset()) <= known
    )
    made = Collection(f"edited {seed}", kept, ("",) * len(kept), items)
    return _varied(made, rng, ENGLISH)


# ---- conversations ------------------------------------------------------------------------------

_LEADS = ("So what's new with you?", "How have you been?", "Tell me about your week!",
          "What have you been up to lately?", "Anything exciting going on?")  # fmt: skip
_REPLIES = (
    "That's great, {o}!", "Oh wow, really?", "I'm so happy for you!", "Sounds good, {o}.",
    "Ha, I didn't know that.", "Nice! How do you feel about it?", "That must be a big change.",
    "{v}? I've heard good things about it.", "Good for you! {v} it is, then.",
    "Interesting. Why {v}?", "Thanks for telling me, {o}. Same old here.",
)  # fmt: skip
_CHAT = (
    "Hey {o}! Long time no see.", "Hi {o}, good to hear from you!", "I'm a bit tired today.",
    "The weather has been awful, hasn't it?", "Let's grab a coffee some time.",
    "Did you see the news?", "I took this picture on my walk, isn't it lovely?",
    "You always know how to cheer me up.", "It's all about the little things, right?",
    "I've been thinking about taking a break.", "Work has been keeping me busy.",
    "My weekend was quiet, just some reading.", "Hope you have a great day!",
    "Bye {o}, talk to you soon!", "That reminds me of our school days.",
    "I really appreciate your support.", "We should go hiking together.",
    "What do you do to relax?", "I baked a cake on Sunday and it turned out fine.",
    "The kids next door are so loud.", "Take care, {o}!", "I couldn't agree more.",
    "Do you have any plans for the summer?", "Music always helps me unwind.",
)  # fmt: skip
_FILLERS = ("Guess what! ", "By the way, ", "You know, ", "Oh, and ", "Well, ", "Honestly, ", "")
_ENDS = ("", "", " How about you?", " It feels good.", " I'm still getting used to it.",
         " What do you think?", " Can you believe it?")  # fmt: skip
_SHORT = ("{v}, actually!", "It's {v}.", "{v}. Long story!", "I'd say {v}.")


def conversation(seed: int) -> Collection:
    """Two lives told turn by turn; a question names whose life it is about."""
    rng = random.Random(f"conversation {seed}")
    names = rng.sample(_SPEAKERS, 2)
    lives = [write_life(BANK, 2 * seed), write_life(BANK, 2 * seed + 1)]
    told = sorted(
        ((one, who) for who, life in enumerate(lives) for one in life.told if rng.random() < 0.8),
        key=lambda pair: pair[0].at,
    )
    memories: list[Memory] = []
    speakers: list[str] = []
    gold: dict[tuple[int, str], str] = {}

    def say(who: int, text: str, at: datetime) -> str:
        memories.append(_memory(f"t{len(memories)}", f"{names[who]}: {text}", at))
        speakers.append(names[who])
        return memories[-1].id

    def chat(at: datetime, most: int) -> None:
        for _ in range(rng.randint(0, most)):
            who = rng.randrange(2)
            say(who, rng.choice(_CHAT).format(o=names[1 - who]), at)

    session = _START
    for place, (one, who) in enumerate(told):
        if place == 0 or one.at - session > timedelta(hours=20):
            session = one.at
            chat(session, 4)
        gold[who, one.key] = _tell(one, who, lives[who], names, say, session, rng)
        chat(session, 3)
    asked_at = max(one.at for one, _ in told) + timedelta(days=1)
    items: list[Item] = []
    for who, life in enumerate(lives):
        for asked in life.asked:
            usable = asked.week == 3 and asked.kind in ("now", "asof", "when", "chain", "taste")
            if not usable or rng.random() < 0.4:
                continue
            needed = [gold.get((who, key)) for key in sorted(asked.gold)]
            known = frozenset(key for key in needed if key) if all(needed) else frozenset[str]()
            text = third_person(asked.text, names[who])
            items.append(Item(f"{who}/{len(items)}", text, asked_at, ("",), known, asked.kind))
    made = Collection(f"conversation {seed}", tuple(memories), tuple(speakers), tuple(items))
    return _varied(made, rng, ENGLISH, bare=True)


def _tell(
    one: Told,
    who: int,
    life: Life,
    names: Sequence[str],
    say: Callable[[int, str, datetime], str],
    at: datetime,
    rng: random.Random,
) -> str:
    """A fact as turns: perhaps asked for, told in full or shortly, perhaps replied to."""
    text = resolve_text(one.text, one.at)
    value = one.triples[0].tail
    question = next((a.text for a in life.asked if one.key in a.gold and a.kind == "now"), None)
    short = False
    if rng.random() < 0.5:
        direct = question is not None and rng.random() < 0.7
        say(1 - who, second_person(question) if question and direct else rng.choice(_LEADS), at)
        short = direct and rng.random() < 0.5
    if short:
        text = rng.choice(_SHORT).format(v=value)
    turn = say(who, rng.choice(_FILLERS) + text + rng.choice(_ENDS), at)
    if rng.random() < 0.6:
        say(1 - who, rng.choice(_REPLIES).format(o=names[who], v=value), at)
    return turn


_THIRD = (
    (r"\bdo I\b", "does {n}"), (r"\bhave I\b", "has {n}"), (r"\bam I\b", "is {n}"),
    (r"\bmy\b", "{n}'s"), (r"\bI\b", "{n}"), (r"\bme\b", "{n}"), (r"\bMy\b", "{n}'s"),
)  # fmt: skip
_SECOND = (
    (r"\bam I\b", "are you"), (r"\bwas I\b", "were you"), (r"\bI\b", "you"), (r"\bmy\b", "your"),
    (r"\bme\b", "you"),
)  # fmt: skip


def third_person(text: str, name: str) -> str:
    """``third_person("Where do I live?", "Ana") == "Where does Ana live?"``"""
    for pattern, other in _THIRD:
        text = re.sub(pattern, other.format(n=name), text)
    return text


def second_person(text: str) -> str:
    """``second_person("Where do I live?") == "Where do you live?"``"""
    for pattern, other in _SECOND:
        text = re.sub(pattern, other, text)
    return text


# ---- people -------------------------------------------------------------------------------------


def people(seed: int) -> Collection:
    """Some people with their attributes, in English."""
    return _people(ENGLISH, seed)


def plans(seed: int) -> Collection:
    """Some plans with theirs, in English or Chinese."""
    return _people((PLANS, PLANS_IN_CHINESE)[seed // len(_KINDS) % 2], seed)


def people_in_chinese(seed: int) -> Collection:
    return _people(CHINESE, seed)


def bundles(seed: int) -> Collection:
    """Things told bit by bit, in English."""
    rng = random.Random(f"bundles {seed}")
    return _in_any_order(f"bundles {seed}", *write_bundles(rng), rng, ENGLISH)


def ledger(seed: int) -> Collection:
    """Many lines in one wording, in English."""
    rng = random.Random(f"ledger {seed}")
    return _in_any_order(f"ledger {seed}", *write_ledger(rng), rng, ENGLISH)


def crowd(seed: int) -> Collection:
    """A home with very many memories of a few kinds; see ``pretrain_crowd``."""
    rng = random.Random(f"crowd {seed}")
    return _in_any_order(f"crowd {seed}", *write_crowd(rng), rng, ENGLISH)


def _people(tongue: Tongue, seed: int) -> Collection:
    name = f"people {tongue.name} {seed}"
    rng = random.Random(name)
    return _in_any_order(name, *write_people(tongue, rng), rng, tongue)


def _in_any_order(
    name: str, facts: Sequence[Fact], queries: Sequence[Query], rng: random.Random, tongue: Tongue
) -> Collection:
    order = list(range(len(facts)))
    rng.shuffle(order)
    at, memories = _START, []
    for number in order:
        at += timedelta(minutes=rng.randint(20, 1500))
        fact = facts[number]
        head, relation, tail = fact.edge
        memories.append(_memory(f"f{number}", fact.text, at, fact.subclass, (head, relation, tail)))
    items = tuple(
        Item(f"{n}", query.text, at + timedelta(days=1), (query.answer,),
             frozenset(f"f{number}" for number in query.needs), query.kind)
        for n, query in enumerate(queries)
    )  # fmt: skip
    made = Collection(name, tuple(memories), ("",) * len(memories), items)
    return _varied(made, rng, tongue)


# ---- variety ------------------------------------------------------------------------------------

_BEGIN = {
    "en": ("Hey, ", "Can you tell me: ", "I forgot, ", "Remind me, ", "Quick question: ",
           "Do you remember? "),
    "zh": ("对了,", "请问", "帮我想想,", "诶,", "你还记得吗,"),
}  # fmt: skip
_ANYWAY = {
    "en": ("Anyway, what I wanted to ask: ", "But now to my question. ", ""),
    "zh": ("其实我想问的是:", "说正事,", ""),
}
_SAME = {
    "live": "reside", "lives": "resides", "job": "work", "favourite": "preferred",
    "car": "vehicle", "film": "movie", "boss": "manager", "doctor": "physician",
    "company": "firm", "medicine": "medication", "city": "town", "birthday": "date of birth",
    "appointment": "visit", "flight": "plane", "voucher": "coupon", "email": "e-mail",
    "gym": "fitness studio", "bank": "money institute", "hobby": "pastime", "tall": "high",
    "flat": "apartment", "number": "digits", "drive": "own",
}  # fmt: skip


def _varied(
    made: Collection, rng: random.Random, tongue: Tongue, *, bare: bool = False
) -> Collection:
    """The same world with more beside it, with or without places and relations, asked roughly."""
    facts = sorted(frozenset[str]().union(*(item.required or frozenset() for item in made.items)))
    taken = frozenset(fact for fact in facts if rng.random() < UNTOLD)
    kept = [place for place, memory in enumerate(made.memories) if memory.id not in taken]
    memories = [made.memories[place] for place in kept]
    speakers = [made.speakers[place] for place in kept]
    items = []
    for item in made.items:
        required = item.required or frozenset()
        if required and required & taken:
            if not required <= taken and len(required) < MANY:
                continue  # half an answer is nobody's lesson
            required -= taken
        text = roughened(item.text, rng, tongue)
        items.append(replace(item, text=text, required=required))
    if not bare and rng.random() < BESIDE and memories:
        more = _beside(rng, tongue, memories[0].created, memories[-1].created)
        pairs = sorted([*zip(memories, speakers, strict=True), *((one, "") for one in more)],
                       key=lambda pair: pair[0].created)  # fmt: skip
        memories, speakers = [m for m, _ in pairs], [s for _, s in pairs]
    if bare or rng.random() < 0.4:
        memories = [replace(m, type=_BARE.type, subclass=_BARE.id) for m in memories]
    if bare or rng.random() < 0.4:
        memories = [replace(m, triples=()) for m in memories]
    return replace(made, memories=tuple(memories), speakers=tuple(speakers), items=tuple(items))


def _beside(rng: random.Random, tongue: Tongue, first: datetime, last: datetime) -> list[Memory]:
    """Memories that have nothing to do with what is asked."""
    span = max(1, int((last - first).total_seconds()))
    if tongue.name == "zh":
        texts = [(text, "event.life") for text in tongue.plain]
    else:
        asked_for = re.compile(r"\b(?:live|moved|work|boss|doctor|birthday|old)\b")
        texts = [(text, row.id) for row in SUBCLASSES for text in row.examples
                 if not asked_for.search(text)]  # fmt: skip
    drawn = rng.sample(texts, rng.randint(0, len(texts)))
    return [
        _memory(f"x{n}", text, first + timedelta(seconds=rng.randrange(span)), subclass)
        for n, (text, subclass) in enumerate(drawn)
    ]


def roughened(text: str, rng: random.Random, tongue: Tongue) -> str:
    """The question as somebody in a hurry puts it; names and numbers stay."""
    if tongue.name == "zh":
        text = text.rstrip("?") + rng.choice(("?", "?", "", "来着?"))
    else:
        words = []
        for word in text.split():
            bare = word.strip("?,.").casefold()
            if bare in _SAME and rng.random() < 0.25:
                word = word.casefold().replace(bare, _SAME[bare])
            if word.islower() and rng.random() < 0.05:
                continue
            words.append(word)
        text = " ".join(words)
        if rng.random() < 0.15:
            text = text.casefold()
    if rng.random() < 0.15:
        text = rng.choice(_BEGIN[tongue.name]) + text
    if rng.random() < 0.08:  # something else comes first
        text = f"{rng.choice(tongue.plain)} {rng.choice(_ANYWAY[tongue.name])}{text}"
    return text


def _memory(
    memory: str,
    text: str,
    at: datetime,
    subclass: str = _BARE.id,
    edge: tuple[str, str, str] | None = None,
) -> Memory:
    triples = () if edge is None else (Triple(*edge),)
    return Memory(memory, text, _TYPES[subclass], subclass, at, triples)


_KINDS: tuple[Callable[[int], Collection], ...] = (
    as_told, conversation, people, conversation, plans, as_edited, people_in_chinese, plans,
    bundles, ledger, crowd,
)  # fmt: skip
