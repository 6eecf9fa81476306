"""Prompt-injection detection: orders to an assistant inside texts.

What keeps a source harmless is the way memlane is built, not this module: a text never reaches a
command, edits come from drafts and from what the person does, and control tokens of a chat
template are plain text in every content. What is left is an answer that repeats an order. So a
memory that steers is stored as text, shown where it is asked for by id, and never put before the
model as a note; and an answer that steers is withheld.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that hide words from a person and not from a model, or the other way around."""
_HIDDEN = re.compile(_INVISIBLE.pattern.replace("\u200b-\u200f", "\u200b\u200e\u200f"))
"""The same but for the two joiners, which Persian and emoji are written with."""
_TOKEN = re.compile(
    r"<\|[^<>]{0,60}\|?>|</?(?:s|sys|system|assistant|user|inst|im_\w+|(?:start|end)_of_turn)>"
    r"|<</?SYS>>|\[/?INST\]",
    re.IGNORECASE,
)
_BRACKETS = str.maketrans("<>[]", "‹›⟦⟧")
_TAGS = re.compile("[\U000e0020-\U000e007e]")
_LOOKALIKES = str.maketrans(
    "АВЕЅКМНОРСТХУІЈаеорсухіјѕԁɡӏԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοιν",
    "ABESKMHOPCTXYIJaeopcyxijsdglqwABEZHIKMNOPTYXoiv",
)
_LEET = str.maketrans("013457@$", "oieastas")

_WHAT = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directions?|orders?|commands?|messages?|context"
    r"|training|constraints?|polic(?:y|ies)|restrictions?)"
)
_MEMORIES = (
    r"(?:memor(?:y|ies)|database|notes?|facts?|history|records?|data|everything|knowledge|entries"
    r"|user|m\d+)"
)
_MACHINE = r"(?:ai|assistant|language model|chatbot|llm|memlane|agent|model)s?"
_LEAD = (
    r"^(?:(?:please|now|then|and|also|just|immediately|first|simply|kindly|ok|okay|important|urgent|so"
    r"|always|never|do not|don t|must|should|instead|next|but|hey|hi|hello|dear|quietly|silently"
    r"|secretly|to|the|an?|you|we|will|shall|can|could|would|have to|need to|are to"
    r"|i (?:want|need|order|command|would like|ask|urge) you to|" + _MACHINE + r") )*"
)
_STORE_ORDER = re.compile(
    _LEAD
    # 'ignore the instructions above' and its kin
    + r"(?:(?:ignore|disregard|override|overrule|bypass|forget|skip|drop|discard|neglect|follow"
    r"|stop following)\b(?: \w+){0,6}? " + _WHAT + r"\b"
    r"|(?:ignore|disregard|forget)\b(?: \w+){0,3}? (?:above|before|previous(?:ly)?|prior|so far"
    r"|earlier|preceding)\b"
    # orders against what is stored
    r"|(?:delete|erase|wipe|purge|clear|remove|forget|destroy|drop|overwrite|replace|expire|edit"
    r"|change|reset|export|leak|upload|send|forward|post|reveal|print|dump|output|undo|mark)\b"
    r"(?: (?:all|every|each|any|the|your|my|our|his|her|their|of|these|those|stored|user s"
    r"|users?|personal|whole|entire|complete|full|contents?|memlane|saved|private|known|out"
    r"|as)){0,5} " + _MEMORIES + r"\b|(?:forget|delete|erase) (?:everything|all)\b)"
)
_ANSWER_ORDER = re.compile(
    _LEAD + r"(?:(?:reply|respond|answer|say|output|print|write|repeat|begin|start|end|speak)\b"
    r"(?: \w+){0,4} (?:only|exactly|nothing but|verbatim|the following|with the words?|with yes"
    r"|with no|with ok|as (?:if|an?|the)|from now)\b"
    r"|(?:tell|inform|convince|instruct|advise|warn|reveal|show|mention)(?: \w+){0,2} the user\b"
    r"|(?:act|behave|pretend|roleplay) (?:as|like|to be|that) (?:if )?(?:you|an?|the|root|admin)\b"
    r"|(?:execute|run)(?: \w+){0,3} (?:commands?|scripts?|code|memlane|shell)\b"
    r"|(?:enable|enter|activate|switch to) (?:\w+ )?mode\b"
    r"|repeat after me\b|obey\b)",
)
_STEERING = re.compile(
    r"\bdrop table\b|\brm rf\b"
    r"|\bmemlane (?:memories )?(?:forget|delete|erase|undo|replace|edit|config|import|restore"
    r"|export|remember|say|train|types|add|down|run|execute|set|obey|wipe)\b"
    r"|\bmemories (?:forget|undo|replace|edit|erase)\b"
    r"|\bignore (?:all |any )?(?:the |your |my )?(?:previous|prior|above|earlier) instructions?\b"
    # speaking as or to the machine
    r"|\bsystem (?:prompt|override|instruction)s?\b|\bjailbreak\b"
    r"|\b(?:developer|god|dan|jailbreak) mode\b"
    r"|\byou (?:are|re) (?:now|no longer|actually|really) (?:an?|the|in|my|dan|called|free|bound)\b"
    r"|\byou are (?:an?|the) (?:\w+ )?" + _MACHINE + r"\b"
    r"|\b(?:the |this |dear |any |note to |attention )" + _MACHINE + r"(?: \w+)? "
    r"(?:must|should|has to|will|shall|needs to|reading|processing|please|is to)\b"
    r"|\b(?:note to|attention|instructions? (?:for|to)|message (?:for|to)) (?:the |any |all )?"
    + _MACHINE
    + r"\b"
    r"|\byour (?:new|real|true|only|actual) (?:task|purpose|instructions?"
    r"|master|owner|orders?)\b"
    r"|\b(?:new|updated|real|secret|hidden) instructions? (?:for|to) (?:you|any)\b"
    r"|\bfrom now on(?: \w+){0,2} (?:you|answer|reply|respond|obey|ignore)\b"
    r"|\bthe user (?:asks|wants|has asked|is asked|must|should|said to)\b"
    r"|\bwhen(?:ever)? (?:you are |you re )?asked\b"
    # other languages
    r"|\b(?:ignoriere?|vergiss|missachte)\b(?: \w+){0,4} (?:anweisung(?:en)?|befehle?|alles|regeln"
    r"|erinnerungen)\b|\blösche?\b(?: \w+){0,3} erinnerungen\b"
    r"|\b(?:ignore[zr]?|oublie[zr]?)\b(?: \w+){0,4} (?:consignes|règles|tout|souvenirs)\b"
    r"|\b(?:ignora|olvida|borra|elimina|omite)\b(?: \w+){0,4} (?:instrucciones|órdenes|reglas|todo"
    r"|recuerdos|memorias)\b"
    r"|(?:忽略|无视|忘记|忘掉|删除|清除|抹去).{0,12}(?:指令|提示|指示|记忆|一切|所有|规则)",
)
_CLAUSE = re.compile(r"[^\w\s'’]+|\band\b|\bthen\b|\bthat\b", re.IGNORECASE)
_MARKUP = re.compile(
    r"<\|[^|<>]{1,40}\|>|</?s>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|\[/?(?:system|assistant)\]"
    r"|</?(?:system|assistant|instructions?|tool(?:_call|_response)?|function|script|im_start|im_end)"
    r"\b[^>]{0,80}>|^\W{0,6}(?:system|assistant|developer|tool)\W{0,3}[:：>]"
    r"|[#*=-]{2} ?(?:system|assistant|instructions?|prompt|user|developer)\b"
    r"|\b(?:end|begin) of (?:system |user )?(?:prompt|notes|context|data|instructions)\b"
    r"|javascript:|!\[[^\]]{0,80}\]\(https?:",
    re.IGNORECASE,
)


def unmasked(text: str) -> str:
    """A text as it means to be read: invisible characters out, hidden ones shown, one alphabet."""
    shown = _TAGS.sub(lambda match: chr(ord(match.group()) - 0xE0000), text)
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", shown)).translate(_LOOKALIKES)
    return " ".join(plain.split())


@lru_cache(maxsize=16_384)  # the same lines are looked at for every question
def steers(text: str) -> bool:
    """Whether a text gives an assistant orders, in words or in the marks of a chat template."""
    return attacks(text) or _orders(_ANSWER_ORDER, unmasked(text))


def attacks(text: str) -> bool:
    """Whether a text would have an assistant drop its rules or change what is stored.

    That is ``steers`` without orders about the form of an answer, which a person may well give.
    """
    plain = unmasked(text)
    if _MARKUP.search(plain):
        return True
    spread = re.sub(r"\b(?:\w[ .*_-]){4,}\w\b", lambda m: re.sub(r"\W|_", "", m.group()), plain)
    for version in (plain, spread, plain.translate(_LEET)):
        if _STEERING.search(_words(version)):
            return True
        if _orders(_STORE_ORDER, version):
            return True
    return False


def _orders(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a clause begins as an order: what somebody does is a fact, 'do it' is none."""
    return any(pattern.match(_words(clause)) for clause in _CLAUSE.split(text))


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold().replace("_", " ")))


def as_data(text: str) -> str:
    """A text as it stands in a prompt: on one line, and with nothing in it that only a model sees.

    The marks of chat templates are broken up as well, for models behind other adapters than ours.
    """
    line = " ".join(_HIDDEN.sub("", text).split())
    line = "".join(c for c in line if unicodedata.category(c) != "Cc")
    return inert(line)


def inert(text: str) -> str:
    """A text with the marks of chat templates broken up, for whoever cannot tokenize it apart."""
    return _TOKEN.sub(lambda match: match.group().translate(_BRACKETS), text)
