"""Pairs of an old memory and a new message that we wrote ourselves, for training the pair judge.

``samples/editing_own.txt`` holds slots of invented lives (what can be preferred, avoided, set or
true of a person, how many values may stand together, and values with other wordings). Here they
are put into many sentence shapes. Invariants: no domain or wording of a measured set is used; the
same seed gives the same pairs in the same order; ``group`` names the slot, so that held-out figures
can keep whole slots apart.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.shared.common import SAMPLES

SLOTS = SAMPLES / "editing_own.txt"
SAME, NEGATED, OTHER, APART = "same", "negated", "other", "apart"
"""The message says what the memory says; denies it; gives another value; is about other things."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What can be preferred or true of a person; ``values`` hold their own wordings, best first."""

    single: bool
    kind: str
    name: str
    about: str
    values: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """An old memory, a new message, and what the message does to it."""

    old: str
    new: str
    label: str
    single: bool
    group: str


_MEMORY: dict[str, str] = {
    "any": "My {name} is {v}.|{Name}: {v}|{About}; {name}; {v}|{Name} ({about}): {v}.|The user's"
    " {name} is {v}.|For {about}, my {name} is {v}.|User preference: {name} = {v}|"
    "{v} ({name})|I told you that my {name} is {v}.",
    "shop": "I like {v}.|I usually go to {v} for {about}.|I prefer {v} for {about}.|I always choose"
    " {v} when it comes to {about}.|The user prefers {v} for {about}.",
    "taste": "I like {v}.|I love {v}.|I enjoy {v} a lot.|I am into {v}.|I am a fan of {v}.|My"
    " {name} has always been {v}.|The user likes {v}.",
    "setting": "I prefer {v} ({name}).|I want {name}: {v}.|When it is about {about}, I prefer {v}."
    "|I like it {v} ({name}).|The user prefers {v} as {name}.",
    "avoid": "I avoid {v}.|I want to avoid {v}.|I stay away from {v}.|I do not like {v}.|I hate"
    " {v}.|{Name}: {v}|Avoiding in {about}: {v}.",
    "need": "I need {v}.|I want {v}.|It must have {v} ({name}).|For {about} I always need {v}.|"
    "{Name}: {v}",
    "fact": "My {name} is {v}.|{Name}: {v}|My {name}: {v}.|I told you my {name}: {v}.",
    "yesno": "{Name}: {yn}|{About}; {name}; {yn}|My preference on {name} is {yn}.|{Name} ({about}):"
    " {yn}|The user's wish for {name}: {yn}.",
}

_FIND = (
    "find|show me|get me|look for|look up|search for|suggest|recommend|pick|book|list|give me"
    "|point me to|take me to|locate|choose|bring me to|go for"
)
_ASKS = (
    "{find} {v}|{find} {v} please|can you {find} {v}?|could you {find} {v} for me?|hey, {find} {v}"
    "|{find} some {v} {about}|please {find} {v} for my {about}|i'd like {v}|i want {v}|i am in the"
    " mood for {v}|i need {v}|what is the next {v} around here?|where is the closest {v}?|would you"
    " {find} {v} for tonight?|{find} {about} with {v}|{find} {about}: {v}|how about {v}?|is there"
    " {v} close by?|{v}, please|{find} {about}, {v} if possible|i would love {v}|is there any {v}"
    " for {about} near me?|{find} me {v} in the {about} list"
)
_SAME: dict[str, str] = {
    "any": "as always, {v} for {about}|{v} is still my {name}|same as ever: {v}|my {name} remains"
    " {v}|you know my {name}: {v}|{v} again, please|of course {v}|keep it at {v}",
    "shop": _ASKS + "|order from {v}|is {v} open now?|take me to the nearest {v}|any {v} nearby?",
    "taste": _ASKS + "|play {v}|i really like {v}|i love {v}|tell me about {v}|i enjoy {v}|any good"
    " {v} around?",
    "setting": "set {name} to {v}|{v} please|keep {name} {v}|i prefer {v} for {about}|make it {v}"
    "|make sure it is {v}|always {v} for {about}|i like {v}|{find} {about} with {v}|{find} {v}"
    "|could you set it to {v}?|use {v} for {about}|can you make sure {about} is {v}?|i want {v}"
    "|{find} {about}, {v}|turn {name} to {v}|put {name} on {v}|check {v} for {about}|open {v}",
    "avoid": "avoid {v}|please avoid {v}|no {v} please|without {v}|keep me away from {v}|i do not"
    " want {v}|plan it without {v}|make sure there is no {v}|can you avoid {v}?|stay clear of {v}"
    "|leave out {v}|skip {v} as usual|nothing with {v}|{about} without {v}, please",
    "need": _ASKS + "|it must have {v}|make sure there is {v}|only with {v}|does it have {v}?|i"
    " cannot do without {v}|filter for {v}",
    "fact": "my {name} is {v}|it is {v}, as you know|{v} is my {name}|as i said, my {name} is {v}",
}
_NEGATED: dict[str, str] = {
    "any": "my {name} is not {v} any more|{v} is no longer my {name}|forget {v}|remove {v} from my"
    " {name}|delete {v} from my {about} preferences|drop {v}|anything but {v} from now on|i changed"
    " my mind about {v}|take {v} off my list|i am done with {v}",
    "shop": "no {v}|{find} {about}, but not {v}|{find} anything except {v}|exclude {v}|leave {v}"
    " out|avoid {v} from now on|skip {v}|i do not want {v} any more|i don't like {v} anymore|i"
    " stopped going to {v}|{v} is out, show me others|without {v} please|never {v} again"
    "|don't take me to {v}|keep {v} out of the {about} results|do not suggest {v}"
    "|i'd rather not use {v}|can we stop using {v}?|{find} {about} that is not {v}"
    "|let us try something other than {v}|could you leave out {v} in the future?"
    "|i would like to stay away from {v}|steer clear of {v}|block {v}"
    " for {about}|{find} {about} other than {v}|is there {about} without {v}?",
    "taste": "i don't like {v} any more|no more {v}|i am tired of {v}|i no longer enjoy {v}|i hate"
    " {v} now|not {v} please|{find} {about}, but no {v}|skip the {v}|exclude {v}|i have gone off"
    " {v}"
    "|i can't stand {v}|anything except {v}|i stopped liking {v}|avoid {v}|never suggest {v} again"
    "|{find} {about} without {v}|i want to hear nothing of {v}|i lost interest in {v}|i gave up {v}"
    "|keep {v} out of it|i'd rather not have {v} from now on|{find} non-{v} {about}|i quit {v}"
    "|could you leave out {v}?|something that is not {v}",
    "setting": "not {v}|no longer {v}|stop using {v}|i don't want {v}|{v} is not right for me any"
    " more|avoid {v}|no {v} for {about}|change {name}, {v} does not suit me|i am not happy with {v}"
    "|never {v} again|exclude {v}|do not use {v} for {about} any more|anything but {v}|turn {v} off"
    "|without {v}|{find} {about} that is not {v}|can we stop with {v}?|make sure it is not {v}"
    "|i don't like {v} any longer|skip {v}|i'd rather not have {v}|disable {v}|cancel {v}",
    "avoid": "{v} is fine now|i like {v} again|you can include {v}|{v} is okay from now on|i no"
    " longer avoid {v}|i don't mind {v} any more|allow {v} again|use {v} if it helps|add {v}"
    "|include {v}|{v} does not bother me any more|there is no need to avoid {v}|bring {v} back"
    "|take {v} again|i am fine with {v}|prefer {v}|{find} {v}|stop avoiding {v}|with {v} please",
    "need": "i don't need {v} any more|{v} is not necessary|without {v}|{v} does not matter any"
    " more|no {v} please|it need not have {v}|i can do without {v}|remove {v} from the filter|i no"
    " longer need {v}|{v} is not important now|{find} {about} without {v}|exclude {v}|any {about},"
    " {v} is not required|avoid {v}|i have no use for {v}|leave {v} out",
    "fact": "my {name} is no longer {v}|i gave up {v}|i left {v}|{v} is not my {name} any more|i"
    " don't have {v} now|i lost {v}|it is not {v} any more|{v} and i parted",
}
_OTHER: dict[str, str] = {
    "any": "let's switch to {v}|i want {v} instead|from now on {v}|change my {name} to {v}|this"
    " time {v}|make {v} my {name}|add {v} to my {name}|i also like {v}|{v} as well|now it is {v}"
    "|try {v} for a change|set {v} as my {name}|i'd rather have {v}|{v} would be better"
    "|let us go with {v}|put {v} as my {name}|update my {name} to {v}|lately i prefer {v}",
    "avoid": "avoid {v}|also avoid {v}|no {v} please|without {v}|keep me away from {v}|i do not"
    " want {v}|{v} too, leave it out|can you avoid {v}?|stay clear of {v}|leave out {v} from now on"
    "|skip {v}|nothing with {v}|i started to hate {v}|{about} without {v}",
    "need": _ASKS
    + "|it must have {v}|make sure there is {v} too|i also need {v}|only with {v}|i now"
    " need {v}|filter for {v}|does it have {v}?",
    "fact": "my {name} is {v}|my {name} is now {v}|{v} is my new {name}|i have {v} now|i also have"
    " {v}|it is {v} now",
}
_LEADS = (
    "hey, |you know, |actually, |next time, |for the future: |from now on, |today |when we travel, "
    "|i was thinking, |by the way, |please note: |well, |okay, |this evening "
)
_TAILS = (
    " today| around here| for me| for the weekend| when i am out| from now on| in the future| on"
    " the way| next time| this time|, thanks| as usual| if you can| in town"
)
_CHANGES = (
    "i feel like something new. |i've been thinking about {about}. |let's change things. |i have a"
    " long day ahead. |i need {about}. |about {about}: |talking of {about}, "
)
_YESNO = "Yes|yes|wanted|true"
_NONO = "No|no|not wanted|does not matter|indifferent"


def slots() -> list[Slot]:
    """The table of ``samples/editing_own.txt``."""
    found = []
    for line in SLOTS.read_text("utf-8").splitlines():
        if not line.strip() or line.startswith(("#", "facts ;", "turns ;")):
            continue
        first, *rest = (part.strip() for part in line.split(";"))
        if first == "yesno":
            name, about, yes, no = rest
            sides = tuple(tuple(w.strip() for w in side.split(" / ")) for side in (yes, no))
            found.append(Slot(True, "yesno", name, about, sides))
        else:
            kind, name, about, listed = rest
            values = tuple(tuple(value.strip().split("=")) for value in listed.split(","))
            found.append(Slot(first == "one", kind, name, about, values))
    return found


def pairs(seed: int = 0, per_slot: int = 36) -> list[Pair]:
    """Labelled pairs of every slot, shuffled; a third of them say something about other slots."""
    rng = random.Random(seed)
    table = slots()
    made: list[Pair] = []
    for slot in table:
        for number in range(per_slot):
            make = _yesno_pair if slot.kind == "yesno" else _value_pair
            made.append(make(slot, rng, number))
            if number % 3 == 0:
                made.append(_apart_pair(slot, table, rng))
    made += told_pairs(rng)
    rng.shuffle(made)
    return made


def told_pairs(rng: random.Random) -> list[Pair]:
    """Plain statements: what stands together, and what one does to an earlier one."""
    made: list[Pair] = []
    topics: list[list[str]] = []
    for number, line in enumerate(SLOTS.read_text("utf-8").splitlines()):
        first, *rest = (part.strip() for part in line.split(";"))
        if first == "facts":
            topics.append([told.strip() for told in rest[0].split(" / ")])
        elif first == "turns":
            label, old, new = rest
            # Of these four, a home, a job, a habit and a dentist, there is one at a time.
            for told in new.split(" / "):
                made += [Pair(old, told.strip(), label, True, f"turns {number}")] * 4
    for number, topic in enumerate(topics):
        group = f"facts {number}"
        made += [Pair(a, b, APART, False, group) for a in topic for b in topic if a != b]
        for told in topic:
            far = rng.choice(topics[:number] + topics[number + 1 :])
            made.append(Pair(told, rng.choice(far), APART, False, group))
            made += [Pair(told, told.rstrip("."), SAME, False, group)] * 2
    return made


def _value_pair(slot: Slot, rng: random.Random, number: int) -> Pair:
    value, another = rng.sample(slot.values, 2)
    old = _said(_pick(rng, _MEMORY, slot.kind), slot, value[0], rng, plain=True)
    label = (SAME, NEGATED, OTHER)[number % 3]
    if label == SAME:
        shape, told = _pick(rng, _SAME, slot.kind), rng.choice(value)
    elif label == NEGATED:
        # Rarely in other words: a denial names what it denies.
        told = value[0] if rng.random() < 0.75 else rng.choice(value)
        shape = _pick(rng, _NEGATED, slot.kind)
    else:
        told = rng.choice(another)
        table = _OTHER if slot.kind in ("avoid", "need", "fact") or rng.random() < 0.35 else _SAME
        shape = _pick(rng, table, slot.kind)
    return Pair(old, _said(shape, slot, told, rng), label, slot.single, slot.name)


def _yesno_pair(slot: Slot, rng: random.Random, number: int) -> Pair:
    yes = rng.random() < 0.6
    sides = slot.values if yes else slot.values[::-1]
    if rng.random() < 0.3:
        old = _case(rng.choice(sides[0]), True)
    else:
        word = rng.choice((_YESNO if yes else _NONO).split("|"))
        old = _said(_pick(rng, _MEMORY, "yesno"), slot, word, rng, plain=True)
    same = number % 2 == 0
    wording = rng.choice(sides[0] if same else sides[1])
    return Pair(old, _dressed(wording, slot, rng), SAME if same else NEGATED, True, slot.name)


def _apart_pair(slot: Slot, table: Sequence[Slot], rng: random.Random) -> Pair:
    """A message about another slot: half the time of the same domain, or of a like kind."""
    near = [s for s in table if s.name != slot.name and (s.about == slot.about)]
    alike = [s for s in table if s.name != slot.name and s.kind == slot.kind]
    far = [s for s in table if s.name != slot.name and s.about != slot.about]
    chance = rng.random()
    other = rng.choice(near if near and chance < 0.5 else alike if chance < 0.7 else far)
    source = _yesno_pair if other.kind == "yesno" else _value_pair
    made = _yesno_pair if slot.kind == "yesno" else _value_pair
    old = made(slot, rng, 0).old
    return Pair(old, source(other, rng, rng.randrange(3)).new, APART, slot.single, slot.name)


def _pick(rng: random.Random, table: dict[str, str], kind: str) -> str:
    """A shape of the kind, or a fifth of the time one that serves every kind."""
    general = table.get("any", "") if kind not in ("avoid", "yesno", "need") else ""
    own = table.get(kind, "")
    if not own or (general and rng.random() < 0.3):
        own = general
    return rng.choice(own.split("|"))


def _said(shape: str, slot: Slot, value: str, rng: random.Random, *, plain: bool = False) -> str:
    text = shape.format(
        v=value,
        yn=value,
        name=slot.name,
        Name=slot.name[0].upper() + slot.name[1:],
        about=slot.about,
        About=slot.about[0].upper() + slot.about[1:],
        find=rng.choice(_FIND.split("|")),
    )
    return _case(text, plain or rng.random() < 0.8) if plain else _dressed(text, slot, rng)


def _dressed(text: str, slot: Slot, rng: random.Random) -> str:
    """The message as terse or as chatty people type it."""
    chance = rng.random()
    if chance < 0.2:
        text = rng.choice(_LEADS.split("|")) + text
    elif chance < 0.3:
        text = rng.choice(_CHANGES.split("|")).format(about=slot.about) + text
    if rng.random() < 0.3 and not text.endswith("?"):
        text += rng.choice(_TAILS.split("|"))
    text = _case(text, rng.random() < 0.85)
    if rng.random() < 0.7 and text[-1].isalnum():
        text += "."
    return text


def _case(text: str, upper: bool) -> str:
    words = [word if word != "i" and not word.startswith("i'") else "I" + word[1:] for word in
             text.split()]  # fmt: skip
    text = " ".join(words)
    return text[0].upper() + text[1:] if upper else text
