"""The few fixed sentences of answers, in the language of the question."""

from __future__ import annotations

from collections.abc import Mapping

from agent.language.identify import language_of

UNKNOWN = "I don't know: I remember nothing about that."
_UNKNOWN: Mapping[str, str] = {
    "en": UNKNOWN,
    "de": "Das weiß ich nicht: Dazu habe ich mir nichts gemerkt.",
    "es": "No lo sé: no recuerdo nada sobre eso.",
    "fr": "Je ne sais pas : je n'ai rien retenu à ce sujet.",
    "zh": "我不知道：我没有这方面的记忆。",
}
_NO_LONGER: Mapping[str, str] = {
    "en": "No longer.", "de": "Nicht mehr.", "es": "Ya no.", "fr": "Plus maintenant.",
    "zh": "现在不是了。",
}  # fmt: skip
_NOT_SURE: Mapping[str, str] = {
    "en": "I am not sure which holds.",
    "de": "Ich bin nicht sicher, was davon gilt.",
    "es": "No sé con certeza cuál vale ahora.",
    "fr": "Je ne sais pas ce qui est encore vrai.",
    "zh": "我不确定现在是哪一个。",
}
_NEAREST: Mapping[str, str] = {
    "en": "I am not sure that you told me. The nearest is this.",
    "de": "Ich bin nicht sicher, ob du mir das gesagt hast. Am nächsten kommt dies.",
    "es": "No sé con certeza si me lo dijiste. Lo más cercano es esto.",
    "fr": "Je ne sais pas si cela m'a été dit. Le plus proche est ceci.",
    "zh": "我不确定你是否告诉过我。最接近的是：",
}


def unknown(question: str) -> str:
    """That memory holds no answer; in English where we have no words for it."""
    return _UNKNOWN.get(language_of(question), UNKNOWN)


def is_unknown(text: str) -> bool:
    """Whether a reply says that memory holds no answer, or that it may hold none."""
    return text.startswith((*_UNKNOWN.values(), *_NEAREST.values()))


def without_excerpts(text: str) -> str:
    """A reply without the lines that quote what its first line rests on."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(line for line in rest if not ("“" in line and "”" in line))])


def nearest(question: str) -> str:
    """What comes before the nearest note where memory may hold no answer; in English where we have
    no words for it."""
    return _NEAREST.get(language_of(question), _NEAREST["en"])


def no_longer(question: str) -> str:
    """What comes before the note that says that something is over; empty where we have no words."""
    return _NO_LONGER.get(language_of(question), "")


def not_sure(question: str) -> str:
    """What comes after two notes of which one holds; empty where we have no words."""
    return _NOT_SURE.get(language_of(question), "")
