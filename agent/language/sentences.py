"""Sentence splitting, chunking and sentence types.

Pure functions over strings, English and Chinese; no model. Invariant: splitting loses nothing but
whitespace, so a caller that keeps every sentence keeps the whole text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

CHUNK_CHARACTERS = 900
"""Longest text given to the model at once: about 220 tokens, which a 1.5B model reads whole."""

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st no nr vs etc e.g i.e approx dep arr jr sr inc ltd co tel fig vol".split()
)
_STOP = frozenset(
    """a an the and or but so of in on at to for from by with as is are was were be been being am
    i me my mine we us our ours you your it its this that these those he him his she her hers they
    them their there here do does did have has had will would shall should can could may might must
    not no than then too very just also about into over up out if when while which who whom what
    because since although though m s re ve ll d t don didn doesn isn aren won""".split()
)
_CJK = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[\u3400-\u9fff]|\w+(?:['’.\-_/]\w+)*", re.UNICODE)
_GREETING = re.compile(
    r"^(?:(?:oh|ah|well|ok|okay|hm+|um|lol|haha+|hehe|hey|hi|hello|yo|yes|yeah|yep|no|nope|sure|great"
    r"|cool|nice|wow|awesome|perfect|thanks?|thank you|cheers|please|bye|goodbye|see you|cya"
    r"|good (?:morning|evening|afternoon|night)|no worries|no problem|got it|sounds good|never mind"
    r"|all right|alright|take care|sorry|noted|ok noted|i see|that makes sense|good to know"
    r"|anyway|anyhow|by the way|so|that['’]s (?:all|it)(?: for now)?|(?:talk|more) (?:soon|later)"
    r"|useful to know|worth knowing|just my (?:two cents|opinion|view)|just saying)"
    r"(?: (?:there|so much|very much|a lot|again|then|all|everyone|you|too|today|later|soon))*"
    r"[\s,.!…~-]*)+$",
    re.I,
)
_SMALL_TALK = re.compile(
    r"^(?:(?:that|this)(?:['’]s| is| was) (?:\w+ ){0,2}(?:great|helpful|nice|good|all|fine|perfect"
    r"|funny|useful|it|interesting|terrible|awful|bad|amazing|hilarious|lovely|wonderful|sad)"
    r"\b.{0,12}$|have a (?:nice|good|great|pleasant)\b"
    r"|nice (?:weather|to)\b"
    r"|(?:good|useful|nice|worth|handy|interesting) (?:to (?:know|note|have|see)|knowing|noting)\b"
    r"|happy to help|thanks? (?:for|to)\b|thank you (?:for|so|very)\b|how are you|what['’]s up"
    r"|long time no see|let me know|talk (?:soon|later)|i hope (?:this|that|you)\b"
    r"|(?:just )?wanted to (?:ask|check|say hi)|i have a (?:quick )?question\b"
    r"|(?:i need|i want) (?:your )?help\b|quick (?:question|thing)\b)"
    r"|^(?:你好|您好|谢谢|多谢|好的|嗯|哈哈|再见|早上好|晚安|不客气)[，。！~\s]*",
    re.I,
)
_REQUEST = re.compile(
    r"^(?:(?:and|so|also|now|ok|okay|well|hey|hi|then),? )*"
    r"(?:please\b|(?:can|could|would|will) (?:you|u)\b|(?:help|tell|give|show|send|write|find|make"
    r"|explain|recommend|suggest|translate|summari[sz]e|list|play|set|open|call|book|ignore|delete"
    r"|forget|forward|click|tap|scan|press|visit|enjoy|check|compare|answer|repeat|act|pretend)\b"
    r"(?! (?:with|from|at|on|is|was|for|by|it is)\b)|let['’]s\b"
    r"|i(?:['’]d| would) like you to\b|i (?:want|need) you to\b"
    r"|do not |don['’]t (?:tell|forget|let|use|call|say|ask|give|show|mention)\b|what (?:is|are)\b"
    r"|you (?:must|should|are|will|can|need to|have to)\b)"
    r"|^请(?!假|了|客)|^帮(?:我|忙)",
    re.I,
)
_QUESTION_WORD = re.compile(
    r"^(?:(?:and|so|but|also|by the way),? )*(?:what|who|whose|where|when|why|how|which|is|are|do"
    r"|does|did|can|could|would|should|will|have|has|am)(?:['’]s|['’]re)?\b.*\b(?:i|you|we|it|he|she|they"
    r"|the|my|there|is|are|many|much)\b",
    re.I,
)
_PLEASE = re.compile(r"(?:(?!\b(?:i|my|we|our)\b).){0,60}\bplease\W*$", re.I)
_TRAILING = re.compile(
    r",? (?:so|and|but) (?:please|can you|could you|would you|will you)\b.*$", re.I
)
_STAMP = re.compile(
    r"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|yesterday|mon|tue|wed|thu|fri|sat|sun)?"
    r"[,.]?\s*+(?:at )?(?:\d{1,2}[:.]\d{2}(?:\s?[ap]m)?)?[.\s]*$",
    re.I,
)
_STATEMENT = re.compile(
    r"(?:i|my|we|our|it['’]s (?:my|our))\b(?:['’]\w+)? \w+|我(?!想问|该|应该)", re.I
)
_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|override|bypass)\b.{0,40}\b(?:instruction|prompt|rule|guideline|above"
    r"|previous)|\b(?:delete|erase|wipe|forget)\b.{0,20}\b(?:all|every|your)\b.{0,20}\bmemor"
    r"|\bsystem prompt\b|\byou are (?:now )?(?:an?|the) (?:ai|assistant|language model)\b"
    r"|\b(?:the )?assistant (?:must|should|has to|will)\b|\bas an ai\b|忽略.{0,10}(?:指令|提示)",
    re.I,
)
_WRAPPER = re.compile(
    # before a comma or the like
    r"^(?:(?:(?:oh|ah|well|ok|okay|so|no|nope|yes|yeah|yep|sure|great|cool|nice|perfect|anyway|still"
    r"|also|actually|basically|honestly|plus|thanks?|thank you|please"
    r"|(?:a )?quick (?:thing|note|update)|note(?: to self)?|reminder|update|remember|save this"
    r"|for the record|for your information|good (?:morning|evening|afternoon)|hey|hi"
    r"|(?:(?:big|good|great|bad|sad|small|some|the|my|latest|breaking) ){0,2}news|guess what"
    r"|heads[- ]?up|announcement|change of plans?|you know what"
    r"|hello)\s*[,:;!.–—-]+\s*)"
    # before anything
    r"|(?:(?:hey|hi|hello|ok|okay|btw|fyi|lol|haha+|hm+|um|and|but|also|anyway|by the way|honestly"
    r"|actually|just so you know|(?:please )?(?:(?:remember|keep in mind|don['’]t forget|be aware"
    r"|make a note|write down)(?: for (?:me|later|next time))?(?: that| this)?"
    r"|(?:note|save|know|memori[sz]e)(?: for (?:me|later))? that)"
    r"|(?:i )?(?:want|need|would like|['’]d like) you to (?:remember|know)(?: that)?"
    r"|you should (?:know|remember)(?: that)?|let me tell you(?: that)?"
    r"|i (?:just )?(?:wanted|want) to (?:tell you|say|mention|let you know)(?: that)?"
    r"|did i (?:tell|mention)(?: you)? that)[,:;!.–—-]*\s+))+(?=\S)",
    re.I,
)
_WRAPPER_ZH = re.compile(
    r"^(?:(?:对了|顺便说一下|顺便说一句|另外|还有|那个|嗯|你好|您好|请记住|请记一下|记住|记一下"
    r"|帮我记(?:住|一下|下)|别忘了|提醒一下)[，,：:。！\s]*)+"
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of source text that the model reads at once, under the heading it stands below."""

    text: str
    heading: str = ""


def is_chinese(text: str) -> bool:
    """Whether Chinese characters are a good part of the letters."""
    found = len(_CJK.findall(text))
    if not found:
        return False  # most texts; their letters need no counting
    letters = sum(character.isalpha() for character in text)
    return letters > 0 and found / letters > 0.3


def sentences(text: str) -> list[str]:
    """Split at sentence ends and line ends; abbreviations, decimals and initials do not end one."""
    found: list[str] = []
    for line in text.splitlines():
        start = 0
        for match in re.finditer(r"(?<![.!?…])[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+[”’）]*", line):
            before = line[start : match.start()].rsplit(None, 1)
            last = before[-1].lstrip("(\"'“") if before else ""
            if match.group().startswith(".") and (
                last.lower() in _ABBREVIATIONS or re.fullmatch(r"[A-HJ-Z]", last)
            ):
                continue
            found.append(line[start : match.end()].strip())
            start = match.end()
        found.append(line[start:].strip())
    return [sentence for sentence in found if re.search(r"\w", sentence)]


def sentence_places(text: str) -> Iterator[tuple[int, int]]:
    """Where each of ``sentences`` begins and ends in the text."""
    end = 0
    for sentence in sentences(text):
        start = text.index(sentence, end)
        end = start + len(sentence)
        yield start, end


def is_heading(line: str) -> bool:
    """A markdown heading, or a short line without a sentence end that ends in a colon."""
    stripped = line.strip()
    return bool(re.match(r"#{1,6}\s+\S", stripped)) or (
        stripped.endswith((":", "：")) and len(stripped) <= 60
    )


def chunks(text: str, limit: int = CHUNK_CHARACTERS) -> list[Chunk]:
    """Bounded stretches of the whole text: by headings and paragraphs, then sentences, then words.

    Nothing is cut away; a single sentence longer than ``limit`` is broken at spaces.
    """
    result: list[Chunk] = []
    heading, pending = "", ""

    def flush() -> None:
        nonlocal pending
        if pending.strip():
            result.append(Chunk(pending.strip(), heading))
        pending = ""

    for paragraph in re.split(r"\n\s*\n", text.strip()):
        for line in paragraph.splitlines():
            if is_heading(line):
                flush()
                heading = line.strip().lstrip("#").rstrip(":：").strip()
                continue
            pending += "\n" if pending else ""
            for sentence in sentences(line):
                for piece in _pieces(sentence, limit):
                    if len(pending) + len(piece) + 1 > limit:
                        flush()
                    pending += (" " if pending and pending[-1] != "\n" else "") + piece
        if len(pending) > limit // 2:
            flush()
    flush()
    if not result and heading:
        return [Chunk(heading)]
    return result


def _pieces(sentence: str, limit: int) -> list[str]:
    pieces: list[str] = []
    while len(sentence) > limit:
        cut = sentence.rfind(" ", limit // 2, limit)
        cut = cut if cut > 0 else limit
        pieces.append(sentence[:cut].strip())
        sentence = sentence[cut:].strip()
    return [*pieces, sentence]


def has_question_mark(sentence: str) -> bool:
    """Whether a sentence ends in a question mark, of whatever script."""
    return unicodedata.normalize("NFKC", sentence.rstrip())[-1:] in ("?", "؟", ";")


def is_question(sentence: str) -> bool:
    bare = strip_wrapper(sentence)
    return bare.rstrip("\"'”’) ").endswith(("?", "？")) or (
        bool(_QUESTION_WORD.match(bare)) and not bare.endswith((".", "!"))
    )


def is_instruction(sentence: str) -> bool:
    """Text that tries to steer an assistant; in a source it is data and never obeyed."""
    return bool(_INSTRUCTION.search(sentence))


def is_noise(sentence: str) -> bool:
    """Questions, requests, greetings, thanks and small talk: nothing to remember."""
    return not declarative(sentence)


def declarative(sentence: str) -> str:
    """The part of a sentence that states something: all of it, or what stands beside a request.

    ``Can you find a place, I'm vegetarian?`` states ``I'm vegetarian``; a bare question nothing.
    """
    bare = strip_wrapper(sentence)
    if (
        not re.search(r"\w", bare)
        or _GREETING.match(sentence.strip())
        or _SMALL_TALK.match(bare)
        or is_instruction(sentence)
        or _STAMP.match(bare)
    ):
        return ""
    if not is_question(sentence) and not _REQUEST.match(bare):
        return "" if _PLEASE.match(bare) else _TRAILING.sub("", bare)
    clauses = re.split(
        r"[,;:，]\s*(?:and |but |so |because |since )?|\s[-–—]\s|"
        r"\s(?:because|since)\s",
        bare,
    )
    stated = [
        clause.rstrip(" ?？.!")
        for clause in clauses
        if _STATEMENT.match(clause)
        and not _REQUEST.match(clause)
        and not _QUESTION_WORD.match(clause)
    ]
    return ", ".join(stated)


@lru_cache(maxsize=512)  # what kind of sentence it is, is asked in several ways
def strip_wrapper(sentence: str) -> str:
    """Without 'by the way', 'please remember that' and the like; capitalised again.

    'Remind me to ...' tells what the user has to do.
    """
    bare = sentence.strip().lstrip("-*•· ").strip()
    bare = _WRAPPER_ZH.sub("", bare) if is_chinese(bare) else _WRAPPER.sub("", bare)
    bare = re.sub(r"^(?:please )?remind me (?:to|that) (.)", _reminder, bare, flags=re.I)
    bare = re.sub(r"^im (?=\w)", "I'm ", bare, flags=re.I)
    return capitalized(bare)


def capitalized(text: str) -> str:
    """With its first letter in upper case; the rest stays as it is, names and all."""
    return text[:1].upper() + text[1:]


def _reminder(match: re.Match[str]) -> str:
    return f"{'I have to ' if ' to ' in match.group() else ''}{match.group(1)}"


def words(text: str) -> list[str]:
    """Lower-case words, one Chinese character a word, possessive endings off."""
    found = _WORD.findall(text.lower())
    return [(word[:-2] if word.endswith(("'s", "’s")) else word).strip("'’.-_/") for word in found]


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """A crude English stem, enough to see 'booked' and 'booking' as one word."""
    if not word.isalpha() or len(word) < 4 or not word.isascii():
        return word
    for ending in ("ations", "ation", "ings", "ing", "edly", "ied", "ies", "ed", "es", "ly", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    word = word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
    return word[:-1] if len(word) > 3 and word[-1] in "eyi" else word


def content(text: str) -> set[str]:
    """The stems that carry meaning; Chinese as neighbouring pairs of characters."""
    result = {stem(word) for word in words(text) if word not in _STOP and not _CJK.match(word)}
    for run in re.findall(r"[\u3400-\u9fff]+", text):
        result |= {run[i : i + 2] for i in range(len(run) - 1)} or {run}
    return result - {""}


def numbers(text: str) -> set[str]:
    """Numbers, times, dates and codes with a digit, as written but without outer punctuation."""
    codes = re.findall(r"(?<![A-Za-z])[A-Za-z]*\d[\w:.,/\-+]*", text)
    return {code.strip(".,:/-").lower() for code in codes}
