"""One-time codes, recovery codes and card security codes."""

from __future__ import annotations

import re
from collections.abc import Iterator

Spans = Iterator[tuple[int, int]]

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
    re.IGNORECASE,
)
_OTP_BEFORE = re.compile(
    rf"(?<![\w.,:/+-]){_CODE}(?=[ ,]+(?:is|ist|est|es|als|as)\b[^.\n]{{0,50}}\b(?:{_OTP_WORD}"
    rf"|code to (?:sign|log|verify)))",
    re.IGNORECASE,
)
_OTP_USE = re.compile(
    rf"\b(?:(?:use|enter|type|eingeben|gib|utilise[rz]?)\s(?:the\s|this\s|den\s)?(?:code\s|pin\s)?"
    rf"|code\s){_CODE}"
    r"(?=[ ,]+(?:to|um|pour|zum|for your)\s(?:[a-z]+\s){0,3}?(?:verify|confirm|log ?in|sign ?in"
    r"|anmeld|bestätig|vérif|login|continue|reset))",
    re.IGNORECASE,
)
_RECOVERY_CODE = re.compile(
    r"\b(?:recovery|backup|emergency|scratch)[- ]codes?\b[^:=\n]{0,40}[:=][ \t]*"
    r"(?P<value>[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{4,10}){0,3})(?![\w-])",
    re.IGNORECASE,
)
_CVV = re.compile(
    r"\b(?:CVV2?|CVC2?|CVN|CID|card security code|card verification (?:code"
    r"|value))\b[^\w\n]{0,4}(?:is |code |number |ist )?(?P<value>[0-9]{3,4})(?![\w-])",
    re.IGNORECASE,
)
_CODE_LIST = re.compile(
    r"\b(?:recovery|backup|emergency|scratch|wiederherstellungs|einmal)[- ]?codes?\b[^\n]{0,60}"
    r"(?P<value>(?:\n[ \t>*•\d.)-]{0,6}[A-Za-z0-9]{4,10}(?:[- ][A-Za-z0-9]{4,10}){0,3}[ \t]*"
    r"(?=\n|$))+)",
    re.IGNORECASE,
)


def one_time(text: str) -> Spans:
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


def security_codes(text: str) -> Spans:
    return (match.span("value") for match in _CVV.finditer(text))
