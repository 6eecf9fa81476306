"""Writes a life from a seed: what is told when, and questions with the answer valid at each moment.

Four weeks from a Monday. Every fact has a gold timeline (value, from, until); a message tells a
change on its day, later with its date, or ahead of it. Pure: the same seed and bank give the same
life. The product is never asked anything here.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from string import Formatter

from benchmarks.shared.simulated_lives.lives_bank import Bank, Booking, Chain, Link, Passing, Topic
from store.types import SourceKind, Triple

WEEKS = 4
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Told:
    """One memory as it should be extracted, and the raw text it is told in."""

    key: str
    """Names it in gold evidence."""
    at: datetime
    text: str
    """The sentence; its dates are as written."""
    raw: str
    kind: SourceKind
    subclass: str
    triples: tuple[Triple, ...]
    valid_from: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what is right at the moment it is asked."""

    week: int
    at: datetime
    text: str
    kind: str
    """now, gone, asof, chain, form, reminder or taste."""
    right: frozenset[str]
    """Values of which one must be stated; empty where nothing holds any more."""
    wrong: frozenset[str]
    """Values of the same fact that do not hold at the time asked about."""
    gold: frozenset[str]
    """Keys of the memories that the answer needs."""
    changed: bool = False
    """Whether the fact has ever had another value or an end."""


@dataclass
class Life:
    """Everything told, in order of time, and everything asked."""

    told: list[Told] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    small_talk: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Stretch:
    value: str
    start: datetime
    end: datetime | None
    key: str
    known: datetime
    """When it was told."""


def write_life(bank: Bank, seed: int) -> Life:
    """The life of ``seed``: about 40 messages and, over four weeks, about 90 questions."""
    writer = _Writer(bank, seed)
    for topic in bank.topics:
        writer.topic(topic)
    for passing in bank.passing:
        writer.passing(passing)
    for booking in bank.bookings:
        writer.booking(booking)
    for chain in bank.chains:
        writer.chain(chain)
    writer.tastes()
    for link in bank.links:
        writer.link(link)
    life = writer.life
    life.told.sort(key=lambda told: told.at)
    life.asked.sort(key=lambda asked: asked.at)
    life.small_talk = bank.small_talk
    return life


class _Writer:
    def __init__(self, bank: Bank, seed: int) -> None:
        self.bank = bank
        self.rng = random.Random(f"{bank.name} {seed}")
        self.start = datetime(2024, 3, 4, tzinfo=UTC) + timedelta(weeks=7 * (seed % 5))
        self.life = Life()
        # Each time of day is used once, so that it names one booking.
        self.times = [f"{hour:02}:{minute}" for hour in range(8, 19) for minute in (15, 40, 55)]
        self.rng.shuffle(self.times)
        self.left: dict[str, list[str]] = {}
        self.week_ends = [self.start + (7 * week + 6) * DAY + timedelta(hours=20)
                          for week in range(WEEKS)]  # fmt: skip

    def moment(self, first: int, last: int) -> datetime:
        day = self.start + self.rng.randint(first, last) * DAY
        return day + timedelta(hours=self.rng.randint(8, 18), minutes=self.rng.randint(0, 59))

    def day(self, moment: datetime) -> str:
        return moment.strftime(self.rng.choice(self.bank.days.split("|"))).lstrip("0")

    def tell(
        self,
        at: datetime,
        text: str,
        subclass: str,
        triple: tuple[str, str, str],
        *,
        screen: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> str:
        """Add a message, a note or, with ``screen``, the text of a screenshot; returns its key."""
        key = f"f{len(self.life.told)}"
        kind, raw = SourceKind.CHAT, self.rng.choice(self.bank.chatter).format(x=text)
        if screen:
            kind, raw = SourceKind.SCREENSHOT, screen
        elif self.rng.random() < 0.3:
            kind, raw = SourceKind.NOTE, f"# {self.rng.choice(self.bank.note)}\n\n- {text}\n"
        told = Told(key, at, text, raw, kind, subclass, (Triple(*triple),), since, until)
        self.life.told.append(told)
        return key

    def ask(self, week: int, text: str, kind: str, right: set[str], wrong: set[str],
            gold: set[str], *, changed: bool = False) -> None:  # fmt: skip
        at = self.week_ends[week]
        self.life.asked.append(
            Asked(week, at, text, kind, frozenset(right), frozenset(wrong - right),
                  frozenset(gold), changed)
        )  # fmt: skip

    # ---- facts of one value ---------------------------------------------------------------

    def topic(self, topic: Topic) -> None:
        rng = self.rng
        values = rng.sample(topic.values, len(topic.values))
        triple = (topic.head, topic.relation)
        at = self.moment(0, 5)
        first = values[0]
        key = self.tell(at, rng.choice(topic.tell).format(v=first), topic.subclass,
                        (*triple, first))  # fmt: skip
        stretches = [_Stretch(first, at, None, key, at)]
        for week in range(1, 1 + rng.choice((0, 1, 1, 2))):
            value, old = values[week], stretches[-1].value
            told = self.moment(7 * week + 1, 7 * week + 5)
            ways = ["change", "change", "dated"] + (["planned"] if topic.planned else [])
            way = rng.choice(ways)
            start = told
            if way == "dated":
                start = _midnight(told) - rng.randint(1, 4) * DAY
                start = max(start, _midnight(stretches[-1].start) + DAY)
            elif way == "planned":
                start = _midnight(told) + rng.randint(2, 6) * DAY
            text = rng.choice(getattr(topic, way)).format(v=value, o=old, d=self.day(start))
            key = self.tell(told, text, topic.subclass, (*triple, value),
                            since=start if way != "change" else None)  # fmt: skip
            last = stretches[-1]
            stretches[-1] = _Stretch(last.value, last.start, start, last.key, last.known)
            stretches.append(_Stretch(value, start, None, key, told))
        for week, now in enumerate(self.week_ends):
            so_far = [s for s in stretches if s.known < now]
            so_far[-1] = replace(so_far[-1], end=None)  # what ended it is not told yet
            self._ask_topic(topic, so_far, week, now)

    def _ask_topic(self, topic: Topic, known: list[_Stretch], week: int, now: datetime) -> None:
        rng = self.rng
        every = {s.value for s in known}
        held = next(s for s in known if s.start <= now and (s.end is None or now < s.end))
        begun = [s for s in known if s.start <= now]
        changed = len(known) > 1
        self.ask(week, rng.choice(topic.now), "now", {held.value}, every, {held.key},
                 changed=changed)  # fmt: skip
        label = next((label for label, of in self.bank.fields if of == topic.name), None)
        if label is not None:
            self.ask(week, label, "form", {held.value}, every, {held.key}, changed=changed)
        if len(begun) < 2:
            return
        before = begun[-2]
        question = rng.choice(topic.before).format(v=held.value)
        self.ask(week, question, "asof", {before.value}, every, {before.key}, changed=True)
        # A day well inside one stretch, so that only one value is right.
        stretch = rng.choice(begun)
        first, last = _midnight(stretch.start) + DAY, _midnight(stretch.end or now)
        if last - first >= DAY:
            day = first + rng.randint(0, (last - first).days - 1) * DAY
            question = rng.choice(topic.at).format(when=self._when(day, now))
            self.ask(week, question, "asof", {stretch.value}, every, {stretch.key}, changed=True)
        if topic.changed:
            day_of = _midnight(held.start)
            self.ask(week, rng.choice(topic.changed), "when", {f"{day_of:%Y-%m-%d}"}, set(),
                     {held.key}, changed=True)  # fmt: skip

    def _when(self, day: datetime, now: datetime) -> str:
        ago = (_midnight(now) - day).days
        ways = [f"on {day.day} {day:%B}", f"on {day:%A} {day.day} {day:%B} {day.year}",
                f"as of {day.day} {day:%B}"]  # fmt: skip
        if 1 < ago < 7:
            ways.append(f"{('two', 'three', 'four', 'five', 'six')[ago - 2]} days ago")
        if ago == 1:
            ways.append("yesterday")
        return self.rng.choice(ways)

    # ---- facts with an end ----------------------------------------------------------------

    def passing(self, passing: Passing) -> None:
        rng = self.rng
        value = rng.choice(passing.values)
        at = self.moment(0, 9)
        last = _midnight(at) + rng.randint(4, 14) * DAY
        screen = ""
        said = rng.choice(passing.tell).format(v=value, d=self.day(last))
        if passing.screen and rng.random() < 0.5:
            screen = rng.choice(passing.screen).format(v=value, d=self.day(last))
        key = self.tell(at, said, passing.subclass, (passing.head, passing.relation, value),
                        screen=screen, until=last + DAY)  # fmt: skip
        for week, now in enumerate(self.week_ends):
            if now < at:
                continue
            question = rng.choice(passing.now)
            if now < last + DAY:
                self.ask(week, question, "now", {value}, {value}, {key}, changed=True)
            else:
                self.ask(week, question, "gone", set(), {value}, set(), changed=True)
                day = _midnight(at) + rng.randint(1, (last - _midnight(at)).days) * DAY
                when = self._when(day, now)
                self.ask(week, rng.choice(passing.at).format(when=when), "asof", {value}, set(),
                         {key}, changed=True)  # fmt: skip

    def booking(self, booking: Booking) -> None:
        rng = self.rng
        at = self.moment(0, 8)
        day = _midnight(at) + rng.randint(6, 17) * DAY
        times = [self.times.pop(), self.times.pop()]
        value = rng.choice(booking.values)
        said = rng.choice(booking.tell).format(v=value, d=self.day(day), t=times[0])
        key = self.tell(at, said, "event.arrangement",
                        (booking.head, "is_at", f"{day:%Y-%m-%d} {times[0]}"),
                        until=day + DAY)  # fmt: skip
        known = [(at, times[0], key)]
        if rng.random() < 0.6:
            moved = at + rng.randint(1, max(1, (day - at).days - 2)) * DAY
            text = rng.choice(booking.moved).format(t=times[1])
            new = self.tell(moved, text, "event.arrangement", (booking.head, "is_at", times[1]))
            known.append((moved, times[1], new))
        for week, now in enumerate(self.week_ends):
            told = [one for one in known if one[0] < now]
            if not told:
                continue
            every = {one[1] for one in told}
            gold = {one[2] for one in told[-1:]}
            if now < day + DAY:
                self.ask(week, rng.choice(booking.now), "now", {told[-1][1]}, every, gold,
                         changed=len(told) > 1)  # fmt: skip
                ahead = f"What do I have on {day.day} {day:%B}?"
                self.ask(week, ahead, "reminder", {told[-1][1]}, every, gold)
            else:
                self.ask(week, rng.choice(booking.now), "gone", set(), every, set(), changed=True)
                self.ask(week, rng.choice(booking.past), "asof", {told[-1][1]}, every, gold,
                         changed=True)  # fmt: skip

    # ---- what stays, and tastes -----------------------------------------------------------

    def chain(self, chain: Chain) -> None:
        a, b, c = (self.rng.choice(values) for values in chain.values)
        keys = set()
        for sentence, subclass, (head, relation, tail) in chain.tell:
            ends = (head.format(a=a, b=b, c=c), relation, tail.format(a=a, b=b, c=c))
            keys.add(self.tell(self.moment(0, 5), sentence.format(a=a, b=b, c=c), subclass, ends))
        right = {"a": a, "b": b, "c": c}[chain.answer]
        for week in range(WEEKS):
            question = self.rng.choice(chain.ask).format(a=a, b=b, c=c)
            self.ask(week, question, "chain", {right}, set(), keys)

    def link(self, link: Link) -> None:
        sentences = [text for fact in (*link.tell, *link.beside) for text in (fact[0], *fact[2])]
        texts = " ".join((*sentences, *link.ask))
        slots = dict.fromkeys(name for _, name, _, _ in Formatter().parse(texts) if name)
        values = {slot: self.drawn(slot.rstrip("0123456789")) for slot in slots}
        keys = []
        for sentence, subclass, triple in (*link.tell, *link.beside):
            head, relation, tail = (end.format(**values) for end in triple)
            at = self.moment(0, 5)
            keys.append(self.tell(at, sentence.format(**values), subclass, (head, relation, tail)))
        gold = set(keys[: len(link.tell)])
        kind, right = f"{link.kind}: {link.name}", {link.answer(values)}
        for week in range(1, WEEKS):
            question = self.rng.choice(link.ask).format(**values)
            self.ask(week, question, kind, right, set(), gold)

    def drawn(self, pool: str) -> str:
        """A value that this life has not had; where a pool is empty, it begins anew."""
        left = self.left.get(pool) or self.rng.sample(
            self.bank.pools[pool], len(self.bank.pools[pool])
        )
        self.left[pool] = left[1:]
        return left[0]

    def tastes(self) -> None:
        rng = self.rng
        for taste in self.bank.tastes:
            for place, value in enumerate(rng.sample(taste.values, 3)):
                at = self.moment(0, 5)
                text = rng.choice(taste.tell).format(v=value)
                key = self.tell(at, text, taste.subclass, ("me", "likes", value))
                dropped = None
                if place == 0:
                    dropped = self.moment(8, 20)
                    said = rng.choice(taste.drop).format(v=value)
                    self.tell(dropped, said, taste.subclass, ("me", "not_like", value))
                for week, now in enumerate(self.week_ends):
                    question = rng.choice(taste.now).format(v=value)
                    if dropped is None or now < dropped:
                        self.ask(week, question, "taste", {value}, set(), {key})
                    else:
                        self.ask(week, question, "untaste", set(), {text}, set(), changed=True)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
