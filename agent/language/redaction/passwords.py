"""Passwords and PINs, recognised by context."""

from __future__ import annotations

import re
from collections.abc import Iterator

Spans = Iterator[tuple[int, int]]

_URL_LOGIN = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,15}://[^\s:/@]{0,64}:(?P<value>[^\s/@]{1,128})@", re.IGNORECASE
)
_WORD = (
    r"pass ?(?:word|code|phrase|wort)s?|passwd|pwd|pw|kennwort|losung|zugangswort|contraseñas?"
    r"|contrasena|mot de passe|mdp|wachtwoord|senha|hasło|пароль|密码|口令|暗号"
    r"|(?:wi-?fi|wlan|wpa[23]?|wep|network|netzwerk)[ -]?(?:key|schlüssel|code|pw)"
    r"|netzwerkschlüssel|sicherheitsschlüssel"
)
_VALUE = (
    r"(?:\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|`[^`\n]{1,80}`|“[^”\n]{1,80}”|„[^“”\n]{1,80}[“”]"
    r"|(?:(?!\\n)\S){1,128})"
)
_LABELLED_PASSWORD = re.compile(
    rf"(?<![\w])(?:[\w]+[-_])?(?P<label>{_WORD}|(?:(?<=[/,;|] )|^)pass(?=\s?[:=]))"
    rf"(?! redacted\])[\"'*]*"
    rf"(?: \([^)\n]{{0,40}}\)| (?:for|of|to|at|für|von|vom|zum|zur|der|des)"
    rf"\b[^:=\n]{{1,40}}?(?=\s?[:=]))?"
    rf"(?P<by>\s?[:=：][\"'*]*[ \t]*(?:\n[ \t]*)?|[ \t]+|[ \t]*\n[ \t]*)"
    rf"(?P<value>{_VALUE})(?=(?P<more>[^\n]{{0,200}}))",
    re.IGNORECASE | re.MULTILINE,
)
_TOLD_PASSWORD = re.compile(
    rf"(?<![\w])(?:{_WORD})\b(?! ?(?:manager|policy|hint|field|reset|rule|length"
    rf"|safe))[^.:=\n]{{0,60}}?\s(?:is now|is still|is|was|ist jetzt|ist|lautet|war|es|est"
    rf"|to|auf|set to)\s(?P<value>{_VALUE})|(?:密码|口令)(?:是|为)\s?(?P<zh>[!-~]{{3,64}})",
    re.IGNORECASE,
)
_BEFORE_LABEL = re.compile(
    rf"(?<!\S)(?P<value>\S{{6,64}})(?=(?:[ ][^\W\d_]{{1,12}}){{1,3}}?[ ](?:{_WORD})\b)",
    re.IGNORECASE,
)
_WIFI_CODE = re.compile(r"WIFI:(?:[A-OQ-Z]:[^;\n]*;)*P:(?P<value>[^;\n]+)", re.IGNORECASE)
_PIN = re.compile(
    r"(?<![\w-])(?:PIN|PUK|(?i:(?:sim|card|bank|phone|unlock|atm|ec)[ -]pin))"
    r"(?:[ -]?(?:code|nummer|number))?(?: [^.:=\n0-9]{1,40}?)?"
    r"(?:\s?[:=：]\s?|\s(?:is|ist|lautet|was)\s|\s)"
    r"(?P<value>[0-9]{4,8})(?![\w-])",
)
_NO_VALUE = frozenset(
    """a an the my your our his her its their this that these those not never no none nothing too so
    very quite really in on at to of for from by with as if when then only also just still now again
    always ever here there where what which who how why same old new long short weak strong good bad
    wrong right correct incorrect invalid expired required optional secret safe secure unsafe
    unknown hidden lost stolen missing forgotten gone empty blank easy hard simple different unique
    changed reset saved stored kept written needed known shared protected enabled disabled set ask
    see look tell give get use check forgot forget reset change changing under below above inside
    manager protected policy recovery field fields hint prompt because and or but it he she they we
    you i zu nicht noch immer falsch abgelaufen geheim sicher weg siehe bei im am auf unter der die
    das ein eine mein dein sein ihr steht liegt wieder login username user email name
    redacted confirm repeat verify show hide must should can may will minimum least
    """.split()
)
"""What follows 'the password is' where no password is told."""


def passwords(text: str) -> Spans:
    for match in _LABELLED_PASSWORD.finditer(text):
        if span := _labelled(match):
            yield span
    for match in _TOLD_PASSWORD.finditer(text):
        name = "zh" if match["zh"] else "value"
        start, end = match.span(name)
        value = match[name].rstrip(".,;!?")
        bare = value.strip("\"'`“”„")
        # A plain word is a password only where the sentence ends with it, or in quotes.
        ends = bare != match[name] or text[end : end + 1] in ("", "\n") or name == "zh"
        plain = ends and len(bare) > 3 and bare.lower() not in _NO_VALUE and bare[0] != "["
        if _looks_secret(bare) or plain:
            yield start, start + len(value)
    for match in _BEFORE_LABEL.finditer(text):
        bare = match["value"].strip("\"'`“”„,;:()")
        if _mixes_digits(bare):  # 'type NAME7 as the password'
            start = match.start() + match["value"].index(bare)
            yield start, start + len(bare)
    for pattern in (_WIFI_CODE, _URL_LOGIN):
        for match in pattern.finditer(text):
            if not match["value"].startswith("["):
                yield match.span("value")


def _labelled(match: re.Match[str]) -> tuple[int, int] | None:
    """The value behind 'password:', in the next cell, or on the line below."""
    start, end = match.span("value")
    value, more = match["value"], match["more"]
    bare = value.strip("\"'`“”„*").rstrip(",;") or value
    if value.startswith("[") or not re.search(r"\w|[^\w\s]{4,}", bare):
        return None
    if match["label"].lower() == "pass" and not (
        _looks_secret(bare) and len(bare) >= 6 and re.search(r"[a-z]", bare)
    ):
        return None  # 'Pass: 3rd floor'
    if "phrase" in match["label"].lower() and match["more"].strip():
        return start, match.end("more")
    if not re.search(r"[:=：]", match["by"]) or "\n" in match["by"]:
        # A cell of its own, or the line below: words there are a caption more often than not.
        beside = match["by"] == " "
        return (start, end) if _looks_secret(bare) and (beside or not more.strip()) else None
    if bare.lower().strip(".!?") in _NO_VALUE or bare.endswith((":", "?")):
        return None
    rest = more.split()
    if bare.isalpha() and 1 <= len(rest) <= 7 and all(word.isalpha() for word in rest):
        return start, match.end("more")  # a passphrase of several words
    return start, start + len(value.rstrip(",;"))


def _looks_secret(value: str) -> bool:
    """Whether no word of a language is written so: digits with letters, signs, capitals inside."""
    value = value.rstrip(".,;!?")
    if value.startswith(("[", "http")) or len(value) < 4:
        return False
    digits, letters = re.search(r"\d", value), re.search(r"[^\W\d_]", value)
    signs = re.search(r"[^\w\s'’./-]", value)
    return bool(
        (digits and letters)
        or (signs and (digits or letters))
        or re.search(r"[a-z][A-Z]", value)
        or re.fullmatch(r"\d{4,}", value)
    )


def _mixes_digits(value: str) -> bool:
    """Whether it is one string of letters and digits, and no address."""
    letters, digits = re.search(r"[^\W\d_]", value), re.search(r"\d", value)
    return bool(letters and digits and len(value) >= 6 and not re.search(r"[@/:\[\]]", value))


def pins(text: str) -> Spans:
    for match in _PIN.finditer(text):
        if "code" in match.group().lower() and len(match["value"]) == 6:
            continue  # what India calls a PIN code is part of an address
        yield match.span("value")
