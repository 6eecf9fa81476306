"""Pattern vocabulary: person, name, time and job in ``agent.extraction.triples.patterns``.

In a shape ``<h:name>`` is a group ``h`` of the kind ``name`` in ``KINDS``, and ``<name>`` is one
without a group. Data, and the one function that makes a regular expression of a shape.
"""

from __future__ import annotations

import re
from functools import cache

from agent.language.relation_names import IRREGULAR_PASTS

PERSON = (
    r"(?:(?:ex-|step-?|half-|god|grand|great-grand)?(?:wife|husband|partner|spouse|girlfriend"
    r"|boyfriend|fianc[ée]+|mother|father|mum|mom|dad|son|daughter|sister|brother|uncle|aunt|cousin"
    r"|nephew|niece|child|kid|baby|parents|grandma|grandpa)(?:-in-law)?"
    r"|(?:best )?friend|boss|manager|supervisor|colleague|co-?worker|secretary|assistant|neighbou?r"
    r"|flatmate|roommate|landlord|landlady|doctor|dentist|therapist|lawyer|accountant|client"
    r"|(?:\w+ )?(?:teacher|tutor|coach|instructor|adviser|advisor|professor|student)|team ?mate)"
)
_DEMONYMS = (
    "American|Argentinian|Australian|Austrian|Belgian|Brazilian|British|Buddhist|Bulgarian|Canadian"
    "|Catholic|Chilean|Chinese|Colombian|Croatian|Cuban|Czech|Danish|Dutch|Egyptian|English"
    "|Estonian|Ethiopian|European|Filipino|Finnish|French|German|Greek|Hindu|Hungarian|Icelandic"
    "|Indian|Indonesian|Iranian|Iraqi|Irish|Israeli|Italian|Japanese|Jewish|Kenyan|Korean|Latvian"
    "|Lebanese|Lithuanian|Malaysian|Mexican|Moroccan|Muslim|Nigerian|Norwegian|Pakistani|Peruvian"
    "|Polish|Portuguese|Romanian|Russian|Scottish|Serbian|Sikh|Singaporean|Slovak|Somali|Spanish"
    "|Swedish|Swiss|Syrian|Taiwanese|Thai|Turkish|Ukrainian|Vietnamese|Welsh"
)
"""What a person is and not who: 'My boss is Swedish' names nobody."""
NAME = (
    r"(?!(?:The|A|An|My|Our|This|That|These|Everyone|I|We|It|On|In|At|He|She|They|There)\b"
    rf"|(?:{_DEMONYMS})$)"
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?[A-Z][\w’'-]*"
    r"(?: (?:van|de|der|von|da|bin|al|[A-Z][\w’'-]*))*"
)
TITLED = r"(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.? [A-Z][\w’'-]*(?: [A-Z][\w’'-]*)*"
_TIME = (
    r"(?:(?:on|at|by|until|next|this|tomorrow|tonight|from (?=\d)"
    r"|in (?=\d|[A-Z][a-z]+(?:$| \d)))\b.*)"
)

KINDS = {
    "kin": PERSON,
    "name": NAME,
    "kinname": rf"(?:My|Our) {PERSON}(?:,? {NAME})?",
    "who": rf"(?:My|Our) {PERSON}(?:,? {NAME})?|{NAME}",
    "either": rf"(?:My|Our|my|our) {PERSON}|.{{1,80}}?",
    "someone": rf"(?:My|Our|my|our) {PERSON}|{NAME}",
    "titled": TITLED,
    "i": r"I|We",
    "whoever": rf"I|We|(?:My|Our) {PERSON}(?:,? {NAME})?|{NAME}",
    "any": r"I|We|(?!(?:I|We)\b).{2,40}?",
    "thing": r"(?:The|My|Our) [\w&’'./ -]{2,60}?|[A-Z][\w&’'./ -]{1,50}?",
    "ours": r"(?:The|My|Our) [\w&’' -]{2,50}?",
    "noun": r"[\w&’'-]+(?: [\w&’'-]+){0,3}",
    "words": r"[\w -]{2,30}?",
    "text": r".+",
    "some": r".+?",
    "value": r"(?:an? |the )?(?:[A-Z0-9+@].*|[\w-]+(?: [\w-]+)?|\S+@\S+|.*\d.*)",
    "moment": r".*\d.*|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day.*",
    "when": _TIME,
    "adv": r"(?:(?:also|just|now|still|really|usually|always|often|currently|already|recently"
    r"|mostly) )?",
    "aux": r"(?!(?:am|['’]m|is|are|['’]re) (?!\w+(?:ing|ed)\b))(?:(?:(?:have|has) been(?= \w+ing\b)"
    r"|have|has|had|['’]ve|do not"
    r"|don['’]t|does not|doesn['’]t|did not|didn['’]t|will not|won['’]t|never|no longer|used to"
    r"|can|can['’]t|cannot|will|['’]ll|am|['’]m|is|are|['’]re) )?",
    "cannot": r"(?:do not|don['’]t|does not|doesn['’]t|can['’]t|cannot|will not|won['’]t|will"
    r"|can) ",
    "prep": r"to|in|at|on|from|for|with|about|of|as|into|against|by|off|up|out|over",
    "verb": r"[a-z]{2,}",
    "past": "|".join(sorted(IRREGULAR_PASTS)),
    "does": r"works|lives|likes|loves|hates|prefers|wants|needs|plays|speaks|drives|owns|has|makes"
    r"|runs|teaches|studies|knows|thinks|says|eats|drinks|collects|comes|goes|travels|moves|starts"
    r"|leaves|arrives|visits|sings|writes|reads|paints|cooks|takes|gives|gets|keeps|calls|helps"
    r"|sells|buys|uses|wears|supports|belongs|manages|leads|handles|enjoys|rents|grows|believes"
    r"|stays|[a-z]{2,}(?:ed|ing)",
    "doing": r"(?!(?:is|was|were|and|or|of|for|in|at|on)\b)[a-z]{2,}(?:s|ed|ing)",
    "job": r"(?:\w+[ -]){0,3}(?:engineer|nurse|teacher|doctor|lawyer|designer|developer|programmer"
    r"|scientist|manager|accountant|driver|cook|chef|baker|electrician|paramedic|student|pilot"
    r"|freelancer|translator|architect|artist|writer|researcher|pharmacist|consultant|analyst"
    r"|professor|salesman|farmer)",
    "wish": r"would like to|wants? to|plans? to|hopes? to|needs? to|have to|has to|must|should"
    r"|would (?:much )?rather|would|will|['’]ll|(?:am |is |are |['’]m |['’]re )going to(?= [a-z])"
    r"|promised (?:\S+ )?to|decided to|agreed to|intends? to",
    "zh": r"[\u3400-\u9fff]{1,6}?",
}


@cache
def compiled(shape: str) -> re.Pattern[str]:
    """A shape as a regular expression: ``<group:kind>`` from ``KINDS``, parentheses group only."""
    pattern = shape.replace("'", "['’]").replace("(", "(?:").replace("(?:?", "(?")
    pattern = re.sub(r"<(\w+):(\w+)>", lambda m: f"(?P<{m[1]}>{KINDS[m[2]]})", pattern)
    pattern = re.sub(r"(?<!P)<(\w+)>", lambda m: KINDS[m[1]], pattern)
    return re.compile(f"^{pattern}$")
