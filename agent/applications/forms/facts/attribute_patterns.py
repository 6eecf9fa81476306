# ruff: noqa: E501 - a pattern broken over lines is harder to read than a long one
"""How sentences state what forms ask for, as tables of patterns.

Each row says which key a sentence gives and how the value looks.
``agent.applications.forms.facts.read`` runs them and works out whom a sentence speaks of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

# --- what values look like ---
NAME_WORD = r"[A-ZÀ-ÖØ-Þ][\w'’.\-]*"
NAME = rf"{NAME_WORD}(?:\s(?:{NAME_WORD}|van|von|de|der|den|da|di|del|la|bin|al)){{0,4}}|[\u4e00-\u9fff]{{2,4}}"
CODE = r"(?=[A-Z\d /-]*\d)[A-Z\d](?:[A-Z\d]|-(?=[A-Z\d])|[ /](?=[A-Z\d]*\d|[A-Z]{4}\b))*"
PHRASE = r"[^.;!?\n]+?(?=\s(?:since|because|but|and I|and my|which|who|where|until|from \d)\b|[.;!?\n]|$)"
VALUES: dict[str, str] = {
    "email": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "phone": r"\+?\(?\d[\d\s().\-/]{4,}\d",
    "code": CODE,
    "name": NAME,
    "phrase": PHRASE,
    "line": r".+?(?=\s(?:since|because|but|and my|which|until)\b|[.。;!?]?\s*$|[.]\s+[A-Z][a-z]+ (?:is|am|are|was)\b)",
    "word": r"[^\W\d_]+(?:[- ][^\W\d_]+)?",
    "seat": r"\d{1,3} ?[A-Z]\b|[A-Z]\d{1,3}\b",
    "number": r"\d+(?:[.,]\d+)?(?: ?(?:cm|m|kg|lbs?|ft|feet|pounds?))?",
    "handle": r"@?[\w][\w.\-]*\w",
    "size": r"[\w./]+(?: ?1/2)?",
    "blood": r"(?:AB|A|B|O)(?: ?(?:\+|-|−|positive|negative|RH[+-]))?",
    "date": r"[^;!?\n]+",
    "url": r"(?:https?://)?(?:www\.)?[\w-]+(?:\.[\w-]+)+(?:/\S*)?",
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """'My ATTRIBUTE is VALUE', with anybody's possessive in the place of 'my'."""

    key: str
    words: str
    value: str
    things: bool = False
    """Whether 'the ATTRIBUTE' also counts: a booking's, not a person's."""
    chinese: str = ""
    subject: str = ""
    """Whose it is whoever is named: 'my office' is the employer's address."""


ATTRIBUTES: tuple[Attribute, ...] = (
    Attribute("name", r"(?:full |legal |real )?name", "name", chinese="名字|姓名|全名"),
    Attribute("given-name", r"(?:first|given) name|forename", "name"),
    Attribute("family-name", r"(?:last|family) name|surname", "name", chinese="姓"),
    Attribute("additional-name", r"middle name", "name"),
    Attribute("nickname", r"nickname|preferred name", "name", chinese="昵称|小名|外号"),
    Attribute("display-name", r"display name|screen name|gamer ?tag", "handle"),
    Attribute(
        "username",
        r"user ?name|login(?: name)?|user id|account name",
        "handle",
        chinese="用户名|账号",
    ),
    Attribute(
        "email",
        r"e-?mail(?: address)?|mail address|mail",
        "email",
        chinese="邮箱|电子邮箱|邮箱地址|邮件",
    ),
    Attribute(
        "tel",
        r"(?:(?:tele)?phone|mobile(?: phone)?|cell(?: ?phone)?|contact|work|home|office) (?:number|no\.?)"
        r"|(?:tele)?phone|mobile|cell|(?<=my )number",
        "phone",
        chinese="手机号码?|电话号码?|手机|电话|联系电话|联系方式",
    ),
    Attribute("bday", r"birthday|date of birth|birth ?date|dob", "date", chinese="生日|出生日期"),
    Attribute(
        "birthplace",
        r"birthplace|place of birth|hometown",
        "phrase",
        chinese="籍贯|老家|家乡|出生地",
    ),
    Attribute("sex", r"gender|sex", "word", chinese="性别"),
    Attribute("nationality", r"nationality|citizenship", "phrase", chinese="国籍"),
    Attribute(
        "language", r"(?:native|first|preferred|mother) (?:language|tongue)|language", "word"
    ),
    Attribute(
        "street-address",
        r"(?:(?:home|postal|mailing|street|delivery|shipping|billing|current) )?(?<!mail )address|home|house|flat|apartment",
        "line",
        chinese="地址|住址|家庭住址|家庭地址|家",
    ),
    Attribute(
        "street-address", r"(?:office|work|company)(?: address)?", "line", subject="employer"
    ),
    Attribute(
        "postal-code", r"post ?code|postal code|zip(?: code)?", "code", chinese="邮编|邮政编码"
    ),
    Attribute("address-level2", r"city|home town", "phrase", chinese="城市"),
    Attribute("country", r"country(?: of residence)?", "phrase"),
    Attribute(
        "organization",
        r"company|employer|workplace|firm|company name",
        "phrase",
        chinese="公司|单位|工作单位",
    ),
    Attribute(
        "organization-title",
        r"job title|job|occupation|profession|position|role",
        "phrase",
        chinese="职业|职位|工作|岗位|职务",
    ),
    Attribute("url", r"(?:personal )?(?:website|web ?site|homepage|blog)", "url"),
    Attribute("cc-number", r"(?:credit |debit |bank |visa |mastercard )?card(?: number)?", "phone"),
    Attribute("cc-name", r"name on (?:the|my) card|card ?holder(?: name)?", "name"),
    Attribute("cc-exp", r"card(?:'s)? (?:expiry|expiration)(?: date)?", "date"),
    Attribute("passport-number", r"passport(?: number| no\.?)?", "code", chinese="护照号码?|护照"),
    Attribute("passport-expiry", r"passport(?:'s)? (?:expiry|expiration)(?: date)?", "date"),
    Attribute(
        "national-id",
        r"(?:national )?(?:id|identity)(?: card)?(?: number)?|social security number|ssn|tax (?:id|number)|identification number",
        "code",
        chinese="身份证号码?|身份证",
    ),
    Attribute("driving-licence", r"driv(?:ing|er'?s?) licen[cs]e(?: number)?", "code"),
    Attribute(
        "frequent-flyer",
        r"frequent[- ]flyer(?: number)?|loyalty number|miles number|mileage number",
        "code",
    ),
    Attribute(
        "licence-plate",
        r"licen[cs]e plate(?: number)?|number plate|plate number|car registration",
        "code",
        chinese="车牌号码?|车牌",
    ),
    Attribute(
        "bank-account",
        r"iban|bank account(?: number)?|account number",
        "code",
        chinese="银行账号|银行卡号",
    ),
    Attribute(
        "flight-number",
        r"flight(?:'s|’s)?(?: number| no\.?)?(?: to [\w ]+?| for [\w ]+?)?",
        "code",
        things=True,
        chinese="航班号|航班",
    ),
    Attribute(
        "seat",
        r"seat(?: number)?(?: (?:for|on|in) [^.]+?)?",
        "seat",
        things=True,
        chinese="座位号?|座位",
    ),
    Attribute(
        "reservation-number",
        r"(?:booking|reservation|confirmation|hotel|flight)? ?(?:reference|confirmation|booking|reservation|order)(?: number| code| no\.?)?(?: for [^.]+?)?",
        "code",
        things=True,
        chinese="订单号|预订号",
    ),
    Attribute(
        "hotel", r"hotel(?: name)?(?: (?:for|in) [^.]+?)?", "name", things=True, chinese="酒店"
    ),
    Attribute("departure-date", r"departure date|date of departure", "date", things=True),
    Attribute("check-in", r"check-?in(?: date)?", "date", things=True),
    Attribute("check-out", r"check-?out(?: date)?", "date", things=True),
    Attribute("blood-type", r"blood (?:type|group)", "blood", chinese="血型"),
    Attribute("height", r"height", "number", chinese="身高"),
    Attribute("weight", r"weight", "number", chinese="体重"),
    Attribute("marital-status", r"marital status", "word", chinese="婚姻状况"),
    Attribute("shoe-size", r"shoe size", "size", chinese="鞋码"),
    Attribute("clothing-size", r"(?:t-?shirt|shirt|clothing|dress) size", "size"),
    Attribute(
        "dietary-needs",
        r"(?:diet|dietary (?:needs|requirements?|restrictions?)|meal preference)",
        "phrase",
    ),
    Attribute("allergies", r"allerg(?:y|ies)", "phrase"),
    Attribute("car", r"car|vehicle", "phrase", chinese="车"),
    Attribute(
        "school", r"school|university|college|alma mater", "phrase", chinese="学校|大学|毕业院校"
    ),
    Attribute("degree", r"(?:highest )?degree", "phrase", chinese="学历"),
    Attribute("field-of-study", r"major|field of study", "phrase", chinese="专业"),
)

_OWNER = (
    r"(?:\b(?P<my>[Mm]y|[Oo]ur)\s+(?:(?P<rel>[\w][\w \-.]{1,34}?)(?:['’]s|s['’])\s+)?"
    r"|\b(?P<the>[Tt]he|[Tt]his)\s+(?:[\w ]{2,30}?['’]s\s+)?"
    r"|\b(?P<pro>[Hh]is|[Hh]er|[Tt]heir)\s+"
    rf"|(?P<who>\b{NAME_WORD}(?:\s{NAME_WORD}){{0,2}}?)['’]s\s+)"
)
_MODS = r"(?P<mods>(?:[A-Za-z][\w\-]*\s+){0,2}?)"
_IS = (
    r"\s*(?:is now|is currently|is called|is named|is at|is in|is on|is|are|was changed to|has been changed to"
    r"|has changed to|changed to|will be|falls on|expires (?:on|in)|:|：|=)\s*(?:now |currently |located (?:at|in) |the |a |an |on |in |at )?[\"'“]?"
)

_PLAIN = ("email", "phone", "code")
"""Values that look like nothing else."""


@cache
def attribute_pattern(attribute: Attribute) -> re.Pattern[str]:
    """'my (wife's) (new) phone number is VALUE'; of values that cannot be mistaken also 'number's'."""
    is_ = rf"(?:{_IS}|['’]s\s+)" if attribute.value in _PLAIN else _IS
    return re.compile(f"{_OWNER}{_MODS}(?i:{attribute.words}){is_}(?P<v>{VALUES[attribute.value]})")


@cache
def reversed_pattern(attribute: Attribute) -> re.Pattern[str] | None:
    """'VALUE is my phone number', for values that cannot be mistaken."""
    if attribute.value not in _PLAIN:
        return None
    return re.compile(
        rf"(?<![\w+])(?P<v>{VALUES[attribute.value]})\s+is\s+{_OWNER}{_MODS}(?i:{attribute.words})\b"
    )


@cache
def chinese_pattern(attribute: Attribute) -> re.Pattern[str] | None:
    """'我(妻子)的手机号是VALUE'."""
    if not attribute.chinese:
        return None
    value = (
        r"[^，。；！？\s]+"
        if attribute.value not in ("phone", "email", "code")
        else VALUES[attribute.value]
    )
    return re.compile(
        rf"(?P<zh>我们?(?:的)?)(?P<rel>[\u4e00-\u9fff]{{1,6}}?的?)?(?:{attribute.chinese})"
        rf"(?:号码?|名称?)?(?:现在)?(?:是|为|叫|在|住在|：|:)\s*(?P<v>{value})"
    )
