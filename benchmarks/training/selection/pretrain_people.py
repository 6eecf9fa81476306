"""What the shipped policies learn about people and plans from, in English and in Chinese.

Written by us and by chance; no row of a data set. A small world has several people (or plans) with
a value each for some attributes; every value is told in a sentence of its own. Questions ask for
one value, for a value of whoever has another one, for a comparison of two, or for how many share a
value, so that what they need is one memory, two, or what was told of all.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something people have one of; ``{p}`` is the person, ``{v}`` the value."""

    name: str
    subclass: str
    values: tuple[str, ...]
    tell: tuple[str, ...]
    ask: tuple[str, ...]
    whose: str
    """Names the person by the value: 'the one who {…}'."""
    more: str = ""
    """Compares ``{p}`` and ``{o}``; empty where there is no more or less."""
    count: str = ""
    """Asks who shares ``{v}``, for which all are looked at; empty where nobody would."""
    noun: str = ""
    """What it is called in a question; empty where that is ``name``."""


@dataclass(frozen=True, slots=True)
class Tongue:
    """The people and attributes of one language."""

    name: str
    people: tuple[str, ...]
    given: tuple[str, ...]
    """Their names; none where they have no others."""
    named: tuple[str, ...]
    """Tells the name ``{v}`` of ``{p}``."""
    attributes: tuple[Attribute, ...]
    chain: tuple[str, ...]
    """Asks for ``{a}`` of the one who ``{w}``."""
    plain: tuple[str, ...]
    """What is told beside: about nobody, asked for never."""


ENGLISH = Tongue(
    name="en",
    people=(
        "my mother", "my father", "my brother", "my sister", "my boss", "my colleague",
        "my neighbour", "my cousin", "my aunt", "my uncle", "my friend", "my flatmate",
        "my teacher", "my nephew",
    ),
    given=("Lena", "Omar", "Grace", "Tomas", "Yuki", "Pavel", "Ines", "Kofi", "Maeve", "Arjun"),
    named=("{p} is called {v}.", "The name of {p} is {v}.", "{v} is {p}."),
    attributes=(
        Attribute("age", "relationship.relatives", ("19", "24", "27", "33", "38", "45", "52", "61"),
                  ("{p} is {v} years old.", "{p} turned {v} this year.", "{p} is {v} now."),
                  ("How old is {p}?", "What is the age of {p}?"),
                  "is {v}", "Who is older, {p} or {o}?", "How many of them are {v}?"),
        Attribute("job", "relationship.relatives",
                  ("nurse", "plumber", "teacher", "pilot", "chef", "lawyer", "farmer", "editor"),
                  ("{p} works as a {v}.", "{p} is a {v}.", "{p} earns a living as a {v}."),
                  ("What does {p} do for a living?", "What is the job of {p}?",
                   "What does {p} work as?"),
                  "works as a {v}", "", "How many people I know work as a {v}?"),
        Attribute("town", "relationship.relatives",
                  ("Bristol", "Lyon", "Turin", "Graz", "Cork", "Bilbao", "Tampere", "Aarhus"),
                  ("{p} lives in {v}.", "{p} has a flat in {v}.", "The home of {p} is in {v}."),
                  ("Where does {p} live?", "Which city does {p} live in?"),
                  "lives in {v}", "", "Which people I know live in {v}?", "the home town"),
        Attribute("birthday", "event.anniversary",
                  ("3 March", "17 June", "9 October", "28 January", "12 August", "5 May"),
                  ("The birthday of {p} is {v}.", "{p} was born on {v}.",
                   "{p} celebrates on {v}."),
                  ("When is the birthday of {p}?", "When was {p} born?"),
                  "was born on {v}"),
        Attribute("hobby", "relationship.relatives",
                  ("pottery", "climbing", "chess", "gardening", "sailing", "knitting", "birding"),
                  ("{p} loves {v}.", "{p} spends every weekend on {v}.",
                   "The hobby of {p} is {v}."),
                  ("What is the hobby of {p}?", "What does {p} like to do at the weekend?"),
                  "loves {v}", "", "Who of the people I know is into {v}?"),
        Attribute("phone", "attribute.contact",
                  ("555 0134", "555 2278", "555 9081", "555 4410", "555 7712", "555 3309"),
                  ("The number of {p} is {v}.", "You can ring {p} on {v}."),
                  ("What is the phone number of {p}?", "How can I call {p}?"),
                  "has the number {v}", noun="the phone number"),
        Attribute("height", "relationship.relatives",
                  ("158 cm", "163 cm", "170 cm", "176 cm", "181 cm", "189 cm"),
                  ("{p} is {v} tall.", "{p} measures {v}."),
                  ("How tall is {p}?", "What is the height of {p}?"),
                  "is {v} tall", "Who is taller, {p} or {o}?"),
        Attribute("school", "attribute.education",
                  ("a diploma", "a bachelor's degree", "a master's degree", "a doctorate"),
                  ("{p} has {v}.", "{p} finished school with {v}."),
                  ("What degree does {p} have?", "How far did {p} study?"),
                  "has {v}", "", "How many of them have {v}?", "the degree"),
    ),
    chain=("What is {a} of the person who {w}?", "I mean the one who {w}: what is {a}?",
           "Tell me {a} of whoever {w}."),
    plain=(
        "The bus was late again this morning.", "It rained the whole afternoon.",
        "I had soup for lunch.", "The lift in our building is broken.",
        "I watched an old film last night.", "Traffic was terrible today.",
        "I should drink more water.", "The printer at work jammed twice.",
        "I bought new socks.", "The sunset looked lovely.", "I slept badly.",
        "The shop was out of bread.", "I cleaned the windows.", "My phone battery died at noon.",
        "I read for an hour before bed.", "The cat next door was on the roof.",
    ),
)  # fmt: skip

CHINESE = Tongue(
    name="zh",
    people=(
        "我妈妈", "我爸爸", "我哥哥", "我姐姐", "我老板", "我同事", "我邻居", "我表弟", "我姑姑",
        "我舅舅", "我朋友", "我室友", "我老师", "我侄子",
    ),
    given=("林晓", "赵磊", "孙悦", "何平", "郑云", "许佳", "马强", "冯雪", "邓凯", "宋敏"),
    named=("{p}叫{v}。", "{p}的名字是{v}。", "{p}姓名{v}。"),
    attributes=(
        Attribute("年龄", "relationship.relatives",
                  ("19岁", "24岁", "27岁", "33岁", "38岁", "45岁", "52岁", "61岁"),
                  ("{p}今年{v}了。", "{p}已经{v}。", "说起来,{p}{v}。"),
                  ("{p}多大了?", "{p}今年几岁?", "你还记得{p}的年龄吗?"),
                  "{v}", "{p}和{o}谁年纪更大?", "我认识的人里有几个是{v}?"),
        Attribute("职业", "relationship.relatives",
                  ("护士", "水管工", "教师", "飞行员", "厨师", "律师", "农民", "编辑"),
                  ("{p}是一名{v}。", "{p}的工作是{v}。", "{p}当{v}好多年了。"),
                  ("{p}是做什么工作的?", "{p}的职业是什么?", "{p}干哪一行?"),
                  "当{v}", "", "我认识的人里有几个做{v}?"),
        Attribute("城市", "relationship.relatives",
                  ("青岛", "西安", "厦门", "昆明", "沈阳", "合肥", "南宁", "兰州"),
                  ("{p}住在{v}。", "{p}的家在{v}。", "{p}在{v}生活。"),
                  ("{p}住在哪里?", "{p}在哪个城市?", "{p}家在哪儿?"),
                  "住在{v}", "", "哪些人住在{v}?"),
        Attribute("生日", "event.anniversary",
                  ("3月3日", "6月17日", "10月9日", "1月28日", "8月12日", "5月5日"),
                  ("{p}的生日是{v}。", "{p}{v}出生。", "{p}每年{v}过生日。"),
                  ("{p}的生日是哪天?", "{p}什么时候过生日?"),
                  "{v}过生日", "{p}和{o}谁的生日更早?"),
        Attribute("爱好", "relationship.relatives",
                  ("陶艺", "攀岩", "下棋", "园艺", "帆船", "编织", "观鸟"),
                  ("{p}喜欢{v}。", "{p}周末总去{v}。", "{p}的爱好是{v}。"),
                  ("{p}有什么爱好?", "{p}平时喜欢做什么?"),
                  "喜欢{v}", "", "我身边有几个人喜欢{v}?"),
        Attribute("电话", "attribute.contact",
                  ("13500017731", "13911204428", "15022039081", "18600554410", "17788217712"),
                  ("{p}的电话是{v}。", "{p}的号码:{v}。"),
                  ("{p}的电话号码是多少?", "怎么打给{p}?"),
                  "电话是{v}"),
        Attribute("身高", "relationship.relatives",
                  ("158厘米", "163厘米", "170厘米", "176厘米", "181厘米", "189厘米"),
                  ("{p}身高{v}。", "{p}有{v}高。"),
                  ("{p}有多高?", "{p}的身高是多少?"),
                  "身高{v}", "{p}和{o}谁更高?"),
        Attribute("学历", "attribute.education",
                  ("高中", "大专", "本科", "硕士", "博士"),
                  ("{p}的学历是{v}。", "{p}读到了{v}。"),
                  ("{p}是什么学历?", "{p}读到什么程度?"),
                  "学历是{v}", "", "有几个人的学历是{v}?"),
    ),
    chain=("{w}的那个人,{a}是什么?", "那个{w}的人,他的{a}呢?", "我说的是{w}的那位,{a}是多少?"),
    plain=(
        "今天公交车又晚点了。", "下午一直在下雨。", "中午喝了碗汤。", "楼里的电梯坏了。",
        "昨晚看了部老电影。", "路上堵得厉害。", "应该多喝点水。", "公司的打印机卡纸了。",
        "买了双新袜子。", "晚霞真好看。", "昨晚没睡好。", "店里的面包卖完了。", "擦了窗户。",
        "手机中午就没电了。", "睡前看了一小时书。", "天气慢慢热起来了。",
    ),
)  # fmt: skip
PLANS = Tongue(
    name="en",
    people=(
        "the book fair", "the school reunion", "the harvest festival", "the pottery workshop",
        "the charity run", "the film night", "the spring concert", "the boat trip",
        "the chess tournament", "the night market", "the language course", "the science camp",
    ),
    given=(),
    named=(),
    attributes=(
        Attribute("place", "event.arrangement",
                  ("the old town hall", "Mill Park", "the harbour", "Room 12", "the library"),
                  ("{p} takes place at {v}.", "{p} is held at {v}.", "The venue of {p} is {v}."),
                  ("Where is {p}?", "Where does {p} take place?"),
                  "is held at {v}", "", "How many of my plans are at {v}?", "the venue"),
        Attribute("length", "event.arrangement",
                  ("two hours", "three days", "one day", "five weeks", "six days", "four hours"),
                  ("{p} lasts {v}.", "{p} goes on for {v}.", "{p} will take {v}."),
                  ("How long is {p}?", "How long does {p} last?"),
                  "lasts {v}", "Which is longer, {p} or {o}?", "How many of them last {v}?",
                  "the duration"),
        Attribute("guests", "event.arrangement",
                  ("40 people", "120 people", "600 people", "15 people", "900 people"),
                  ("{v} come to {p}.", "{p} is for {v}.", "{p} expects {v}."),
                  ("How many people come to {p}?", "How big is {p}?"),
                  "is for {v}", "Which is bigger, {p} or {o}?", "", "the number of guests"),
        Attribute("start", "event.arrangement",
                  ("Friday at 19:00", "next Sunday at 10:00", "Tuesday at 08:30", "noon on Monday"),
                  ("{p} begins on {v}.", "The start of {p} is {v}."),
                  ("When does {p} begin?", "When is {p}?"),
                  "begins on {v}", "Which begins earlier, {p} or {o}?", "", "the start"),
        Attribute("topic", "event.arrangement",
                  ("meeting old friends and looking at photographs", "learning to glaze bowls",
                   "raising money for the animal shelter", "trying food from six countries"),
                  ("{p} is all about {v}.", "At {p} it is about {v}."),
                  ("What is {p} about?", "What happens at {p}?"),
                  "is about {v}", "", "", "the purpose"),
    ),
    chain=("The thing that {w}: what is {a}?", "What is {a} of the one that {w}?"),
    plain=ENGLISH.plain,
)  # fmt: skip

PLANS_IN_CHINESE = Tongue(
    name="zh",
    people=(
        "春季书展", "同学聚会", "丰收节", "陶艺工坊", "慈善跑", "露天电影夜", "新年音乐会",
        "游船之旅",
        "象棋公开赛", "夜市美食节", "法语短训班", "少年科学营",
    ),
    given=(),
    named=(),
    attributes=(
        Attribute("地点", "event.arrangement",
                  ("老市政厅", "磨坊公园", "青岛", "十二号教室", "西安", "图书馆"),
                  ("{p}在{v}举行。", "{p}的地点是{v}。", "{p}会办在{v}。"),
                  ("{p}在哪里?", "{p}的地点在哪儿?", "{p}在什么地方办?"),
                  "在{v}办", "", "有几个活动在{v}?"),
        Attribute("持续时间", "event.arrangement",
                  ("两个小时", "三天", "一天", "五个星期", "六天", "四个小时"),
                  ("{p}持续{v}。", "{p}要办{v}。", "{p}的持续时间是{v}。"),
                  ("{p}要办多久?", "{p}持续多长时间?"),
                  "要持续{v}", "{p}和{o}相比,哪个更长?", "我的活动里有几个持续{v}?"),
        Attribute("人数", "event.arrangement",
                  ("40人", "120人", "600人", "15人", "900人"),
                  ("{p}有{v}参加。", "{p}的规模是{v}。"),
                  ("{p}有多少人参加?", "{p}规模多大?"),
                  "有{v}参加", "{p}和{o}哪个规模更大?", "有几个活动是{v}的?"),
        Attribute("时间", "event.arrangement",
                  ("周五晚上七点", "下周日上午十点", "周二早上八点半", "周一中午"),
                  ("{p}{v}开始。", "{p}的时间是{v}。"),
                  ("{p}什么时候开始?", "{p}是哪天?"),
                  "{v}开始", "{p}和{o}哪个更早?"),
        Attribute("内容", "event.arrangement",
                  ("老朋友见面看照片", "学做上釉的碗", "给动物救助站筹款", "品尝六个国家的菜"),
                  ("{p}的主要内容是{v}。", "{p}就是{v}。"),
                  ("{p}是做什么的?", "{p}的内容是什么?"),
                  "去{v}"),
    ),
    chain=("{w}的那个活动,{a}是什么?", "就是{w}的那次,{a}呢?", "我想问{w}的活动的{a}。"),
    plain=CHINESE.plain,
)  # fmt: skip
KINDS = ("simple", "conditional", "comparative", "aggregative")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is told: a sentence, where it belongs, and its edge."""

    text: str
    subclass: str
    edge: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Query:
    """A question and the numbers of the facts that it needs."""

    text: str
    needs: frozenset[int]
    kind: str
    answer: str = ""
    """The value that is asked for; empty where it is not one of those told."""


def write_people(tongue: Tongue, rng: random.Random) -> tuple[list[Fact], list[Query]]:
    """A few people, what is told of them in any order, and about two questions a fact."""
    people = rng.sample(tongue.people, rng.randint(3, 8))
    attributes = rng.sample(tongue.attributes, rng.randint(2, 5))
    facts: list[Fact] = []
    held: dict[tuple[str, str], tuple[int, str]] = {}
    given = rng.sample(tongue.given, len(people)) if tongue.given else [""] * len(people)
    for person, name in zip(people, given, strict=True):
        who = person
        if name and rng.random() < 0.3:  # told of by name: whoever asks by role needs this too
            text = rng.choice(tongue.named).format(p=person, v=name)
            held[person, "name"] = len(facts), name
            facts.append(Fact(_said(text), "relationship.relatives", (person, "name", name)))
            who = name if rng.random() < 0.5 else person
        for attribute in attributes:
            value = rng.choice(attribute.values)
            held[person, attribute.name] = len(facts), value
            text = rng.choice(attribute.tell).format(p=who, v=value)
            facts.append(Fact(_said(text), attribute.subclass, (who, attribute.name, value)))
    queries = _questions(tongue, people, attributes, facts, held, rng)
    for text in rng.sample(tongue.plain, rng.choice((0, 0, 2, 5, len(tongue.plain)))):
        facts.append(Fact(text, "event.life", ("me", "noted", text)))
    return facts, queries


def _questions(
    tongue: Tongue,
    people: list[str],
    attributes: list[Attribute],
    facts: list[Fact],
    held: dict[tuple[str, str], tuple[int, str]],
    rng: random.Random,
) -> list[Query]:
    made: list[Query] = []

    def needs(person: str, attribute: Attribute) -> set[int]:
        number, _ = held[person, attribute.name]
        name = held.get((person, "name"))
        by_name = name is not None and facts[number].edge[0] == name[1]
        return {number, name[0]} if by_name and name else {number}

    for attribute in attributes:
        for person in rng.sample(people, min(3, len(people))):
            text = rng.choice(attribute.ask).format(p=person)
            value = held[person, attribute.name][1]
            made.append(Query(text, frozenset(needs(person, attribute)), KINDS[0], value))
        for person in rng.sample(people, 2):
            other = rng.choice([one for one in attributes if one is not attribute])
            number, value = held[person, other.name]
            if sum(held[one, other.name][1] == value for one in people) > 1:
                continue  # it does not say who
            asked = attribute.noun or f"the {attribute.name}"
            if tongue.name == "zh":
                asked = attribute.name
            text = rng.choice(tongue.chain).format(a=asked, w=other.whose.format(v=value))
            gold = {number, held[person, attribute.name][0]}
            if facts[number].edge[0] != facts[held[person, attribute.name][0]].edge[0]:
                gold |= needs(person, attribute)  # told once by name and once by role
            answer = held[person, attribute.name][1]
            made.append(Query(text, frozenset(gold), KINDS[1], answer))
        if attribute.more:
            one, two = rng.sample(people, 2)
            gold = needs(one, attribute) | needs(two, attribute)
            text = attribute.more.format(p=one, o=two)
            made.append(Query(text, frozenset(gold), KINDS[2]))
        if attribute.count:
            _, value = held[rng.choice(people), attribute.name]
            gold = {held[one, attribute.name][0] for one in people}
            made.append(Query(attribute.count.format(v=value), frozenset(gold), KINDS[3]))
    rng.shuffle(made)
    return made


def _said(text: str) -> str:
    return text[0].upper() + text[1:]
