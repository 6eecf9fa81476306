"""Faithfulness checks of extracted sentences against the source (EMG-RAG A.1).

A small model copies examples, swaps subjects, loses a 'not' and drops sentences. Each check here
is deterministic and compares with the source sentence that a line is about. Invariant: every
number and name in a guarded memory stands in the source (or in the known people), and every
source sentence with something to remember is represented.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from datetime import datetime

from agent.extraction.values import as_spelt, invents, lost, without_known_dates
from agent.language.coreference import NAME, clauses, resolve, split_facts
from agent.language.relation_names import IRREGULAR_PASTS
from agent.language.sentences import (
    content,
    declarative,
    is_chinese,
    is_negated,
    is_noise,
    numbers,
    sentences,
    strip_wrapper,
    words,
)

SUPPORT = 0.6
"""Least share of a line's content words that source and known people must hold."""
COVERED = 0.7
"""Least share of a source sentence's content words that the memories must hold."""
SAME = 0.8
"""Share of content words from which one memory repeats another."""

LONGEST = 60
"""Words of a memory beyond which nothing more is joined to it."""

_PAST = frozenset(
    """agreed booked bought came chose cut did drove felt finished found gave got had heard kept
    learned learnt left lent lost made met moved paid put quit ran read said saw sent signed sold
    spent spoke started took talked taught told thought went won wrote broke began built""".split()
)
Kept = tuple[int, str]
"""A memory with the number of the source sentence it is about."""

_MODAL = frozenset("will won't can can't cannot could should must might may would".split())
_PRESENT = frozenset(
    "need want plan hope prefer like love hate have think believe expect intend wish feel".split()
)
_PRONOUN = re.compile(
    r"\b(?:he|she|him|her|his|hers|they|them|their|theirs|it|its|mine|ours|these|those|there|here|one"
    r"|ones"
    r"|this(?! (?:week|month|year|morning|evening|afternoon|weekend|summer|winter|spring|autumn"
    r"|fall|time))|that(?! (?:i|we|my|our|the|a|an|you|[A-Z])\b))(?:['’](?:s|ll|d|re|ve))?\b",
    re.I,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|will|would|can|could|should|must|do|does|did|may|might"
    r"|won['’]t|\w+n['’]t|\w{2,}ed)\b|['’](?:s|m|re|ve|ll)\b|(?<!-)\b[a-z]{2,}[a-rt-z]s\b(?= \w)"
    r"|\b(?:I|we|they|you) (?!\w+ly\b)[a-z]|\b(?:he|she|it|this|that) [a-z]+s\b",
    re.I,
)
_PAST_VERB = re.compile(rf"\b(?:{'|'.join(sorted(IRREGULAR_PASTS))})\b", re.I)
_COUNTED = re.compile(
    r"\b(?i:\d+|two|three|four|five|six|seven|eight|ten|several|many|few|some|all|these|those|no"
    r"|more) (?:[a-z-]+ )?(?!(?:is|was|has|does)\b)[a-z]{2,}s\b|\b[A-Z][a-z]+s\b",
)
_DEPENDENT = re.compile(r"(?<=\w )(?:if|because|since|when|while|as(?! an? )|that|which)\b.*$")
_FUTURE = re.compile(
    r"\b(?:will|shall|won['’]t|going to|plan\w*|intend\w*|hop(?:e|ing)|want\w*|need\w*|must|should"
    r"|ha(?:ve|s) to|commit\w*|promis\w*|next|tomorrow|soon|later|by|before|until)\b|['’]ll\b",
    re.I,
)
_FIRST = re.compile(r"\b(?:i|we|me|us|my|our|mine|ours)\b|我|咱", re.I)
_SUBJECT_I = re.compile(r"\b(?:i|we|me|us|mine)\b|我|咱", re.I)
_LABEL = re.compile(r"([A-Za-z][\w’'-]*(?: [\w’'-]+){0,3})(?<!\d):\s+(\S+(?: \S+){0,3})$")
_OPEN = re.compile(
    r"^(?:They|It|This|That|These|Those|He|She|His|Her|Their|Its)\b(?! (?:week|month|year|morning))"
    r"|^(?:I|We) (?:said (?:yes|no)|agreed|accepted|declined|refused)\b(?! (?:with|to|that|on)\b)"
    r"|^(?:Currently|Now|So far) (?:at|on|in|under|over|around|about)\b"
    r"|^(?:[\w’'-]+ ){1,3}(?:signed off|agreed|approved|refused|declined|accepted|objected)\.$"
    r"|^(?:I|We)(?:['’]\w+)?(?: (?!(?:the|a|an|my|our|his|her|their|this|that)\b)[a-z]+){1,4}"
    r" (?:them|it)\b"
    r"|\b(?:accordingly|therefore|consequently|as a result|for that reason|in that case)\b"
)
_PLAIN_START = re.compile(
    r"(?:The|They|It|This|That|These|Those|He|She|His|Her|Their|Its|We|My|Our|A|An|There|Two|Three|Currently|Now|So"
    r"|If|When|Not|No|Most|Many|Some|Even|Only|Just)\b"
)
_STANCE = re.compile(
    r"\b(?:think|believe|feel|find|prefer|prefers|rather|decided?|chose|agreed|committed|committing"
    r"|switch(?:ed|ing)?|dropped|reject(?:ed|ing)|opinion|overrated|underrated|favou?r|confirmed"
    r"|should|recommend|settled|wants?)\b",
    re.I,
)
_SECOND_FACT = re.compile(
    r"(?:,|;| and| but| so) (?:i|we|my|our|he|she|they|it)\b|;|[,，][^,，\n]*[,，][^,，\n]*[,，]",
    re.I,
)


def has_verb(sentence: str) -> bool:
    """Whether the main clause says something of its subject, as far as word forms tell."""
    if re.match(r"(?:(?:The|My|Our) )?[\w’'-]+ [a-z]+[^s\W]s[.!]?$", sentence):
        return True  # 'The lift smells.'
    main = _COUNTED.sub("", _DEPENDENT.sub("", sentence))
    return bool(_VERB.search(main) or _PAST_VERB.search(main))


def first_person(text: str) -> bool:
    """Whether a text names the writer: I, me, my, we, our."""
    return _FIRST.search(text) is not None


def leans(sentence: str) -> bool:
    """Whether a sentence begins with what only an earlier one explains."""
    return _OPEN.search(sentence) is not None


def implicit_subject(sentence: str) -> str:
    """What a note leaves out before its first word: 'I', 'I am' or nothing."""
    parts = strip_wrapper(sentence).split()
    if len(parts) < 2:
        return ""
    first, second = parts[0].lower().replace("’", "'"), parts[1].lower()
    if first in _MODAL and second not in {"you", "i", "we", "he", "she", "they", "it", "the"}:
        return "I"
    if first in _PAST or re.fullmatch(r"[a-z]{3,}ed", first):
        if first in {"need", "red", "hundred", "wed"} or any(
            word in {"is", "are", "was", "were"} for word in parts[1:3]
        ):
            return ""
        return "I"
    if first in _PRESENT:
        return "I"
    if re.fullmatch(r"[a-z]{2,}ing", first) and second in (
        "to on with from into for at by the a an my our up off out over back".split()
    ):
        verb = re.search(r"\b(?:is|are|was|were|makes?|takes?|has|costs?|helps?)\b", sentence)
        return "" if verb or first in {"during", "morning", "evening", "nothing"} else "I am"
    if first == "not" and second in {"sure", "happy", "going", "convinced"}:
        return "I am"
    return ""


def clean_sentence(sentence: str) -> str:
    """A source sentence as a memory: wrappers off, 'I' put back, closed with a full stop."""
    bare = re.sub(r"[:;]-?[()DPp]+$", "", re.sub(r"\s+", " ", strip_wrapper(sentence)))
    bare = bare.rstrip(" ,;:!…-")
    label = _LABEL.match(bare)
    if label:
        owner = "" if re.match(r"(?:My|Our|The)\b", label[1]) else "The "
        name = label[1] if not owner or label[1].isupper() else label[1][:1].lower() + label[1][1:]
        bare = f"{owner}{name} is {label[2]}"
    subject = implicit_subject(bare)
    if subject:
        bare = f"{subject} {bare[:1].lower()}{bare[1:]}"
    bare = re.sub(r"^i\b", "I", bare)
    bare = re.sub(r"^(I|We) (still|also|actually|honestly|now), ", r"\1 \2 ", bare)
    if bare and bare[-1] not in ".?。！？":
        bare += "。" if is_chinese(bare) else "."
    return bare[:1].upper() + bare[1:]


def is_clean(sentence: str) -> bool:
    """Whether a sentence is a memory as it stands: one fact, a verb, nothing to resolve."""
    bare = strip_wrapper(sentence)
    if is_chinese(bare):
        return not re.match(r"[他她它这那其]", bare) and len(bare) <= 60
    return (
        len(words(bare)) <= 20
        and not _PRONOUN.search(bare)
        and not _SECOND_FACT.search(bare)
        and not implicit_subject(bare)
        and (has_verb(bare) or bool(_LABEL.match(bare)))
        and (bool(_FIRST.search(bare)) or bare[:1].isupper())
        and "?" not in bare
    )


def guard(
    lines: Sequence[str], source: str, *, people: Sequence[str] = (), now: datetime | None = None
) -> tuple[str, ...]:
    """The lines that hold against the source, repaired, and what of the source they leave out.

    ``now`` is the time of the source: with it, a date may be written in another form.
    """
    every = sentences(source)
    # '' where a sentence states nothing; a lone word is a speaker's name or a button
    parts = [
        declarative(part) if len(content(part)) > 1 or has_verb(part) else "" for part in every
    ]
    context = " ".join(people)
    kept: list[Kept] = []
    for line in (part for raw in lines for part in sentences(raw)):
        line = as_spelt(clean_sentence(_first_person(line, source)), f"{source} {context}")
        place = _home(line, every, now)
        if place is None or not parts[place] or is_noise(line):
            continue
        if not is_worth_keeping(line):
            continue
        line = resolve(line, parts[:place])
        supported = _is_supported(line, source, context, now)
        if supported and _is_faithful(line, parts[place], source, context, now):
            kept.append((place, line))
    kept = _without_repeats(kept)
    for place, part in enumerate(parts):
        if part:
            kept = _cover(kept, place, parts)
    kept.sort(key=lambda item: item[0])
    facts = [(place, fact) for place, line in kept for fact in split_facts(line)]
    return tuple(dict.fromkeys(line for _, line in _with_rest(tied(facts, in_a_row=True), every)))


def _with_rest(kept: Sequence[Kept], every: Sequence[str]) -> list[Kept]:
    """The memories with what none of them says, in the person's own words.

    'Carb kit came. £385.' or 'A new girl on Saturdays. Elin. 17.': what is too short for a memory
    belongs to what was said before it, or after it where it comes first.
    """
    told = {home for home, _ in kept}
    stated = set().union(*(content(line) for _, line in kept))
    result, leads = list(kept), False
    for place, part in enumerate(every if kept else ()):
        said = declarative(part).rstrip(" .!")
        inside = content(said)
        if place in told or not inside or len(inside & stated) >= COVERED * len(inside):
            continue
        index = sum(home < place for home, _ in result)
        home, line = result[index - 1]
        if index == 0 or len(words(line)) >= LONGEST:
            leads = leads or index == 0
            result.insert(index, (place, f"{said}."))
            continue
        said = said[:1].lower() + said[1:] if _PLAIN_START.match(said) else said
        result[index - 1] = (home, f"{line.rstrip('.!')}; {said}.")
    if leads and len(words(f"{result[0][1]} {result[1][1]}")) <= LONGEST:
        result[:2] = [(result[0][0], f"{result[0][1].rstrip('.')}; {result[1][1]}")]
    return result


def _first_person(line: str, source: str) -> str:
    if re.search(r"\buser\b", source, re.I):
        return line
    line = re.sub(r"^(?:The )?[Uu]ser['’]s\b", "My", line)
    return re.sub(r"^(?:The )?[Uu]ser (?:is|am)\b", "I am", line)


def _home(line: str, parts: Sequence[str], now: datetime | None) -> int | None:
    """The source sentence that a line is about: most content words and dates shared."""
    own = content(line)
    shared = [
        (len(own & content(part)) + without_known_dates(line, part, now)[1], -place)
        for place, part in enumerate(parts)
    ]
    best = max(shared, default=(0, 0))
    return -best[1] if best[0] > 0 else None


def _is_supported(line: str, source: str, context: str, now: datetime | None) -> bool:
    rest, dates = without_known_dates(line, source, now)
    own = content(rest)
    if not own:
        return False
    told, known = content(source), content(context)
    weight = _weight(own) + 2 * dates
    return (
        _weight(own & (told | known)) + 2 * dates >= SUPPORT * weight
        and _weight(own & told) + 2 * dates >= SUPPORT / 2 * weight
        and bool(dates or (own & told) - known or not known)
    )


def _weight(terms: Set[str]) -> int:
    """How much words tell: a number or code as much as two others, for nobody paraphrases it."""
    return sum(1 + any(char.isdigit() for char in term) for term in terms)


def _is_faithful(line: str, part: str, source: str, context: str, now: datetime | None) -> bool:
    """No number or name from nowhere, no lost or added 'not', no 'I' in another's place."""
    if invents(line, f"{source} {context}", now):
        return False
    if is_negated(line) and not is_negated(source):
        return False
    if is_negated(part) and not is_negated(line):
        own = content(line)
        for clause in re.split(r"[,;:]|\b(?:and|but|because|so|since|while)\b", part):
            inside = content(clause)
            if is_negated(clause) and inside and len(inside & own) / len(inside) >= SAME:
                return False
    if not has_verb(line) and (has_verb(clean_sentence(part)) or re.match(r"(?:I|We)\b", line)):
        return False
    if _FUTURE.search(line) and not _FUTURE.search(part):
        return False
    mine = bool(re.match(r"(?:I|We)\b", line))
    if implicit_subject(part) and not _FIRST.match(line):
        # 'Promised to send her my slides' has no other subject than the writer
        return len(content(line) & content(part)) < 2
    return not mine or bool(
        _SUBJECT_I.search(part) or implicit_subject(part) or _SUBJECT_I.search(source)
    )


def _without_repeats(kept: Sequence[Kept]) -> list[Kept]:
    """Of two lines that say the same, the one with more in it."""
    result: list[Kept] = []
    for place, line in kept:
        own = content(line)
        repeated = False
        for index, (_, other) in enumerate(result):
            theirs = content(other)
            shared = len(own & theirs)
            if not own or (
                shared / len(own) >= SAME
                and numbers(line) <= numbers(other)
                and is_negated(line) == is_negated(other)
            ):
                repeated = True
                break
            if shared / max(len(theirs), 1) >= SAME and numbers(other) <= numbers(line):
                result[index] = (place, line)
                repeated = True
                break
        if not repeated:
            result.append((place, line))
    return result


def _cover(kept: Sequence[Kept], place: int, parts: Sequence[str]) -> list[Kept]:
    """Add the source sentence ``place`` where no memory states it or a number of it is lost."""
    part = parts[place]
    inside = content(part)
    stated = set().union(*(content(line) for _, line in kept)) if kept else set()
    unsaid = lost(part, " ".join(line for _, line in kept))
    silent = any(
        (own := content(clause)) and not own & stated for clause in clauses(part)
    )  # 'and she hates it there'
    if not inside or (len(inside & stated) / len(inside) >= COVERED and not (unsaid or silent)):
        return list(kept)
    sentence = resolve(clean_sentence(part), parts[:place])
    if not is_worth_keeping(sentence) and not (unsaid and len(inside - unsaid) >= 2):
        return list(kept)
    return [*kept, (place, sentence)]


def is_worth_keeping(sentence: str) -> bool:
    """Whether there is something to remember: a statement, or a fragment with a name or number."""
    if is_chinese(sentence):
        return len(content(sentence)) >= 3
    return has_verb(sentence) or (len(content(sentence)) >= 2 and not _is_bare(sentence))


def tied(kept: Sequence[Kept], *, in_a_row: bool = False) -> list[Kept]:
    """A memory that cannot be understood alone joins the one before it.

    That is one with an open pronoun or an answer ('I said yes'), a fragment without a verb, and,
    after a decision or an opinion, the bare reasons for it ('The windows stay clean.').

    :param in_a_row: whether facts are told in a row, as in messages: then a fragment with a name
        or number is one ('14 Bell Lane, Norwich.') and stands alone.
    """
    result: list[Kept] = []
    for place, line in kept:
        before = result[-1][1] if result else ""
        verbless = not (has_verb(line) or is_chinese(line))
        open_ = bool(_OPEN.search(line)) or (verbless and (not in_a_row or _is_bare(line)))
        joins = open_ or bool(_STANCE.search(before) and _is_bare(line))
        if before and joins and len(words(before)) + len(words(line)) <= LONGEST:
            plain = _PLAIN_START.match(line) or not has_verb(line)
            opening = line[:1].lower() + line[1:] if plain else line
            result[-1] = (result[-1][0], f"{before.rstrip('.')}; {opening}")
        else:
            result.append((place, line))
    return result


def _is_bare(line: str) -> bool:
    """No first person, no name, no number: nothing that one would look it up by."""
    named = re.search(r"(?<=[\w,;:] )[A-Z]", line) or re.match(NAME + r"(?:['’]s)? ", line)
    return not (_FIRST.search(line) or numbers(line) or named or is_chinese(line))
