"""Secrets in a text, taken out before anything of it is stored (docs/ingest.md).

A secret opens something by itself: a card number, a bank account, a key, a password, a one-time
code, a token. What merely names something (a passport, a booking, a phone) is none: forms need it.
Pure: text in, text out; no model. Invariants: what is redacted is in no field of the result; doing
it twice changes nothing; it takes time linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from store.types import Span

_I = re.IGNORECASE
_M = re.MULTILINE


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets."""

    text: str
    kinds: tuple[str, ...]
    """What each of them was, in the order of the text: 'card number', 'password', ..."""
    cuts: tuple[tuple[int, int, int], ...] = ()
    """Start and end of each in the old text, and the length of what stands there now."""

    def moved(self, position: int) -> int:
        """Where a position of the old text is now; one inside a secret goes to its start."""
        index = bisect_right(self.cuts, position, key=lambda cut: cut[0])
        shift = sum(length - (end - start) for start, end, length in self.cuts[:index])
        if index:
            start, end, length = self.cuts[index - 1]
            if start <= position < end:
                return start + shift - (length - (end - start))
        return position + shift

    def moved_span(self, span: Span) -> Span:
        """Where a stretch of the old text is now; a stretch that was a secret has its mark."""
        end = self.moved(span.end)
        for first, last, length in self.cuts:
            if first < span.end < last:
                end += length
        return Span(self.moved(span.start), end)


def what_is_gone(text: str) -> str:
    """One line for the person about the marks in a text; empty where nothing was taken out."""
    counts = Counter(_MARK.findall(text))
    names = [kind if n == 1 else f"{n} {kind}s" for kind, n in counts.items()]
    return f"Not stored: {', '.join(names)}." if names else ""


def redact(text: str) -> Redacted:
    """The text with ``[KIND redacted]`` in place of every secret that is found."""
    found: list[tuple[int, int, str]] = []
    for kind, search in _SEARCHES:
        found += [(start, end, kind) for start, end in search(text)]
    found.sort(key=lambda span: (span[0], -span[1]))
    pieces: list[str] = []
    kinds: list[str] = []
    cuts: list[tuple[int, int, int]] = []
    at = 0
    for start, end, kind in found:
        if start < at:
            if end > at and cuts:  # two that overlap: both go
                first, _, length = cuts[-1]
                cuts[-1] = (first, end, length)
                at = end
            continue
        mark = f"[{kind} redacted]"
        pieces += [text[at:start], mark]
        kinds.append(kind)
        cuts.append((start, end, len(mark)))
        at = end
    if not kinds:
        return Redacted(text, ())
    return Redacted("".join([*pieces, text[at:]]), tuple(kinds), tuple(cuts))


_Spans = Iterator[tuple[int, int]]


# ---- numbers with a checksum --------------------------------------------------------------

_DIGITS = re.compile(
    r"(?<![\w+.,/#-])[0-9](?:(?:[ \u00a0]{1,3}|-)?[0-9]){12,18}(?![\w-]|[.,/][0-9])"
)
_NO_CARD = re.compile(
    r"(?:isbn|ean|gtin|upc|imei|iccid|tracking|parcel|sendung|order|bestell|invoice|rechnung|ticket"
    r"|barcode|serial|meter|phone|tel|fax|booking|miles|frequent)\S*"
    r"(?:[ .:#]+\w{0,9}){0,2}[ .:#]*$",
    _I,
)
"""Stands before numbers of so many digits that are no card's."""


def _cards(text: str) -> _Spans:
    for match in _DIGITS.finditer(text):
        digits = re.sub(r"[^0-9]", "", match.group())
        before = text[max(0, match.start() - 40) : match.start()].rpartition("\n")[2]
        if _is_card(digits) and _groups(match.group()) and not _NO_CARD.search(before):
            yield match.span()


def _is_card(digits: str) -> bool:
    """A number that a card network gives out (ISO/IEC 7812), with a right check digit."""
    size, four = len(digits), int(digits[:4])
    network = (
        (digits[0] == "4" and size in (13, 16, 19))
        or ((5100 <= four <= 5599 or 2221 <= four <= 2720) and size == 16)
        or (digits[:2] in ("34", "37") and size == 15)
        or ((3000 <= four <= 3059 or digits[:2] in ("36", "38", "39")) and size == 14)
        or ((four == 6011 or digits[:2] == "65" or 6440 <= four <= 6499) and size in (16, 19))
        or (3528 <= four <= 3589 and size == 16)
        or (digits[:2] == "62" and 16 <= size <= 19)
        or (digits[:2] in ("50", "56", "57", "58", "63", "67") and size in (16, 19))
    )
    return network and len(set(digits)) > 1 and _luhn(digits)


def _luhn(digits: str) -> bool:
    # From the last digit on, every second one counts double, as the sum of its digits.
    total = sum(
        int(digit) if at % 2 == 0 else sum(divmod(2 * int(digit), 10))
        for at, digit in enumerate(reversed(digits))
    )
    return total % 10 == 0


def _groups(written: str) -> bool:
    """Whether the spaces stand as on a card, so that two numbers side by side are not one."""
    sizes = [len(part) for part in re.split(r"[ \u00a0]+|-", written)]
    return len(sizes) == 1 or (sizes[0] == 4 and all(2 <= size <= 7 for size in sizes[1:]))


_IBAN = re.compile(
    r"(?<![A-Za-z0-9])([A-Z]{2}[0-9]{2}(?:(?:[ \u00a0]{1,3}|-)?[A-Z0-9]){11,30})(?![A-Za-z0-9])"
)


def _ibans(text: str) -> _Spans:
    for match in _IBAN.finditer(text):
        # The pattern may run on into capitals that follow: the longest start that checks is it.
        written = match.group()
        for cut in [
            len(written),
            *(m.start() for m in reversed([*re.finditer(r"[ \u00a0-]", written)])),
        ]:
            code = re.sub(r"[ \u00a0-]", "", written[:cut])
            if len(code) < 15:
                break
            if len(code) <= 34 and _mod97(code):
                yield match.start(), match.start() + cut
                break


def _mod97(code: str) -> bool:
    return int("".join(str(int(sign, 36)) for sign in code[4:] + code[:4])) % 97 == 1


# ---- keys and tokens of well-known shapes -------------------------------------------------

_KEY_BLOCK = re.compile(
    r"-----BEGIN (?P<what>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:(?!-----END)[\s\S])*(?:-----END [A-Z0-9 ]{0,40}-----)?"
    r"|\bAGE-SECRET-KEY-1[A-Z0-9]{20,}"
    r"|^PuTTY-User-Key-File-\d:(?:.*\n)*?Private-MAC:.*$",
    _M,
)
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"sk-(?:proj-|ant-|or-v1-|svcacct-)?[A-Za-z0-9_-]{20,}|[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}"
    r"|whsec_[A-Za-z0-9]{20,}"
    r"|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}|gl(?:pat|dt|rt)-[A-Za-z0-9_-]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}"
    r"|A(?:KIA|SIA|GPA|IDA|ROA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}"
    r"|GOCSPX-[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|do[oprt]_v1_[a-f0-9]{64}|shp(?:at|ca|pa"
    r"|ss)_[a-f0-9]{32}"
    r"|key-[a-f0-9]{32}|dckr_pat_[A-Za-z0-9_-]{20,}|tskey-[a-z]+-[A-Za-z0-9-]{20,}"
    r"|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    r")"
)
_LABELLED_TOKEN = re.compile(
    r"(?<![A-Za-z])(?:(?:api|access|auth|secret|client|private|refresh|bearer|bot|personal|license"
    r"|encryption)"
    r"[ _-]?(?:access[ _-]?)?(?:key|token|secret)(?:[ _-]?id)?|token|secret|bearer)\b[\"']?"
    r"(?:\s*[:=]\s*|\s+is\s+|\s+)[\"'`]?(?P<value>[A-Za-z0-9_+/=.~-]{16,})",
    _I,
)
_URL_LOGIN = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s:/@]{1,64}:(?P<value>[^\s/@]{1,128})@", _I)
_SEED = re.compile(
    r"\b(?:seed|recovery|mnemonic|backup|secret)[ _-]?(?:phrase|words|seed)\b\W{0,4}(?:is\s+)?"
    r"(?P<value>(?:\d{0,2}[.)]?\s*[a-z]{3,8}[\s,]+){11,23}[a-z]{3,8})\b",
    _I,
)


def _blocks(text: str) -> _Spans:
    return (match.span() for match in _KEY_BLOCK.finditer(text))


def _tokens(text: str) -> _Spans:
    yield from (match.span() for match in _TOKEN.finditer(text))
    for match in _LABELLED_TOKEN.finditer(text):
        if re.search(r"\d", match["value"]) and re.search(r"[A-Za-z]", match["value"]):
            yield match.span("value")


def _seeds(text: str) -> _Spans:
    return (match.span("value") for match in _SEED.finditer(text))


# ---- passwords ----------------------------------------------------------------------------

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
    _I | _M,
)
_TOLD_PASSWORD = re.compile(
    rf"(?<![\w])(?:{_WORD})\b(?! ?(?:manager|policy|hint|field|reset|rule|length"
    rf"|safe))[^.:=\n]{{0,60}}?\s(?:is now|is still|is|was|ist jetzt|ist|lautet|war|es|est"
    rf"|to|auf|set to)\s(?P<value>{_VALUE})|(?:密码|口令)(?:是|为)\s?(?P<zh>[!-~]{{3,64}})",
    _I,
)
_WIFI_CODE = re.compile(r"WIFI:(?:[A-OQ-Z]:[^;\n]*;)*P:(?P<value>[^;\n]+)", _I)
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


def _passwords(text: str) -> _Spans:
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


def _pins(text: str) -> _Spans:
    for match in _PIN.finditer(text):
        if "code" in match.group().lower() and len(match["value"]) == 6:
            continue  # what India calls a PIN code is part of an address
        yield match.span("value")


# ---- one-time codes -----------------------------------------------------------------------

_OTP_WORD = (
    r"(?:verification|verify|security|authentication|authorization|authorisation|log-?in"
    r"|sign-?in|one[- ]time"
    r"|single[- ]use|2fa|two[- ]factor|mfa|otp|access|activation|recovery|backup|reset|passcode"
    r"|sms)"
    r"[ -](?:pass)?codes?|(?:your|ihr|dein|votre)\s(?:(?!voucher|promo|discount|gift|coupon|door"
    r"|gate|booking|postal|zip|area|dress)"
    r"\w+\s){0,2}code|otp|one[- ]time[- ](?:pin|password|passcode)|(?:m|sms|push|chip"
    r"|photo)-?tan|tan(?=\s?[:=]|[- ](?:nummer|code|lautet|ist)\b)|einmal-?(?:code|passwort|pin)"
    r"|bestätigungscode|sicherheitscode|verifizierungscode|anmeldecode|freigabecode|code de "
    r"(?:vérification"
    r"|sécurité|confirmation)|código de (?:verificación|seguridad|acceso)|codice di verifica"
    r"|verificatiecode"
    r"|验证码|校验码|動態密碼|认证码|認証コード"
)
_CODE = (
    r"(?P<value>(?:[A-Z]-)?[0-9]{3}[ -]?[0-9]{3}|[0-9]{4,8}|[0-9]{4}[ -][0-9]{4})"
    r"(?![\w/-]|[.,:][0-9])"
)
_OTP_AFTER = re.compile(
    rf"(?<![^\W_])(?:{_OTP_WORD})[^.\n0-9]{{0,60}}?[:=： ]\s?{_CODE}|(?:验证码|校验码)[是为：: ]*"
    rf"(?P<zh>[0-9]{{4,8}})",
    _I,
)
_OTP_BEFORE = re.compile(
    rf"(?<![\w.,:/+-]){_CODE}(?=[ ,]+(?:is|ist|est|es|als|as)\b[^.\n]{{0,50}}\b(?:{_OTP_WORD}"
    rf"|code to (?:sign|log|verify)))",
    _I,
)
_OTP_USE = re.compile(
    rf"\b(?:(?:use|enter|type|eingeben|gib|utilise[rz]?)\s(?:the\s|this\s|den\s)?(?:code\s|pin\s)?"
    rf"|code\s){_CODE}"
    r"(?=[ ,]+(?:to|um|pour|zum|for your)\s(?:[a-z]+\s){0,3}?(?:verify|confirm|log ?in|sign ?in"
    r"|anmeld|bestätig|vérif|login|continue|reset))",
    _I,
)
_RECOVERY_CODE = re.compile(
    r"\b(?:recovery|backup|emergency|scratch)[- ]codes?\b[^:=\n]{0,40}[:=][ \t]*"
    r"(?P<value>[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{4,10}){0,3})(?![\w-])",
    _I,
)
_CVV = re.compile(
    r"\b(?:CVV2?|CVC2?|CVN|CID|card security code|card verification (?:code"
    r"|value))\b[^\w\n]{0,4}(?:is |code |number |ist )?(?P<value>[0-9]{3,4})(?![\w-])",
    _I,
)
_CODE_LIST = re.compile(
    r"\b(?:recovery|backup|emergency|scratch|wiederherstellungs|einmal)[- ]?codes?\b[^\n]{0,60}"
    r"(?P<value>(?:\n[ \t>*•\d.)-]{0,6}[A-Za-z0-9]{4,10}(?:[- ][A-Za-z0-9]{4,10}){0,3}[ \t]*"
    r"(?=\n|$))+)",
    _I,
)


def _one_time(text: str) -> _Spans:
    for match in _OTP_AFTER.finditer(text):
        yield match.span("zh" if match["zh"] else "value")
    for pattern in (_OTP_BEFORE, _OTP_USE):
        yield from (match.span("value") for match in pattern.finditer(text))
    for match in _RECOVERY_CODE.finditer(text):
        if any(sign.isdigit() for sign in match["value"]):
            yield match.span("value")
    for match in _CODE_LIST.finditer(text):
        for line in re.finditer(
            r"[A-Za-z0-9]{4,10}(?:[- ][A-Za-z0-9]{4,10}){0,3}(?=[ \t]*(?:\n|$))", match["value"]
        ):
            if any(sign.isdigit() for sign in line.group()):
                yield match.start("value") + line.start(), match.start("value") + line.end()


def _security_codes(text: str) -> _Spans:
    return (match.span("value") for match in _CVV.finditer(text))


_SEARCHES: tuple[tuple[str, Callable[[str], _Spans]], ...] = (
    ("private key", _blocks),
    ("card number", _cards),
    ("bank account", _ibans),
    ("card security code", _security_codes),
    ("access token", _tokens),
    ("recovery phrase", _seeds),
    ("password", _passwords),
    ("PIN", _pins),
    ("one-time code", _one_time),
)

_MARK = re.compile(rf"\[({'|'.join(kind for kind, _ in _SEARCHES)}) redacted\]")
