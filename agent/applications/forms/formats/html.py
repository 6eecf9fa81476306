"""HTML form fields with their surrounding text.

One pass of the standard library's tolerant parser, which also says where in the text each field
stands (``agent.applications.forms.formats.fill_html`` fills it there). Invariants: text inside
scripts, styles and options is never taken for a label, and nesting of any depth costs no recursion.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

from agent.applications.forms.fields import MAX_FIELDS, FormField, Option
from agent.applications.forms.formats.page import Page, Spot, Tag, host_of

# Nothing to fill: buttons act, files are chosen by hand, hidden inputs belong to the page.
_SKIPPED_TYPES = frozenset(
    {"submit", "button", "image", "reset", "file", "hidden", "range", "color"}
)
_SILENT_TAGS = frozenset({"script", "style", "noscript", "template", "svg", "title", "datalist"})
_HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})
"""What a part of a form is called; ``h1`` names the page or the firm."""
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)"
)
_SAVED_FROM = re.compile(r"saved from url=\(\d+\)(\S+)")
_CONTEXT_PIECES = 6
_PIECE_CHARACTERS = 120


@dataclass(slots=True)
class _Draft:
    """A field while its page is still being read."""

    tag: str
    attributes: dict[str, str]
    at: Tag
    wrapped_label: list[str] | None
    legend: str
    heading: str
    before: tuple[str, ...]
    after: list[str] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    choices: list[Tag] = field(default_factory=list)
    closes: int | None = None
    form: int = 0
    hidden: bool = False


class _Unclosed(Exception):
    """Too many tags never end: each costs a look through the rest of the page."""


_MOST_UNCLOSED = 12


class _PageReader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self._length = len(text)
        self._position = 0
        self.drafts: list[_Draft] = []
        self.labels: defaultdict[str, list[str]] = defaultdict(list)
        self.frames = 0
        self.addresses: dict[str, str] = {}
        self.texts: dict[str, list[str]] = {}
        self.form_words: list[list[str]] = [[]]
        self.actions: list[str] = [""]
        self._pieces: list[str] = []
        self._unclosed = 0
        self._silent = 0
        self._form = 0
        self._label: tuple[str, list[str]] | None = None
        self._legends: list[str] = []
        self._legend_text: list[str] | None = None
        self._heading = ""
        self._heading_text: list[str] | None = None
        self._select: _Draft | None = None
        self._option: tuple[str, list[str], Tag] | None = None
        self._textarea: _Draft | None = None
        self._button = False
        self._collecting: list[tuple[str, str]] = []

    # Trigger: a tag, comment or declaration that the rest of the page never closes.
    # Why: the standard parser then searches to the end for each '<', which is quadratic.
    # Outcome: a page that does so often is refused; a page cut off once is still read.

    def parse_starttag(self, i: int) -> int:
        self._position = self._length - len(self.rawdata) + i
        return self._counted(super().parse_starttag(i))

    def parse_endtag(self, i: int) -> int:
        self._position = self._length - len(self.rawdata) + i
        return self._counted(super().parse_endtag(i))

    def parse_html_declaration(self, i: int) -> int:
        return self._counted(super().parse_html_declaration(i))

    def parse_pi(self, i: int) -> int:
        return self._counted(super().parse_pi(i))

    def parse_comment(self, i: int, report: bool = True) -> int:
        return self._counted(super().parse_comment(i, report))

    def _counted(self, end: int) -> int:
        self._unclosed += end < 0
        if self._unclosed > _MOST_UNCLOSED:
            raise _Unclosed
        return end

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._textarea is not None:  # what stands in one is text, whatever it looks like
            return
        attributes = {name: value or "" for name, value in attrs}
        if tag in _SILENT_TAGS:
            self._silent += 1
        elif tag in ("iframe", "frame"):
            self.frames += bool(attributes.get("src") or attributes.get("srcdoc"))
        elif tag in ("base", "link", "meta"):
            self._note_address(tag, attributes)
        elif tag == "form":
            words = [attributes.get(k, "") for k in ("id", "name", "action", "class", "aria-label")]
            self.form_words.append(words)
            self.actions.append(attributes.get("action", ""))
            self._form = len(self.form_words) - 1
        elif tag == "label":
            self._label = (attributes.get("for", ""), [])
        elif tag == "fieldset":
            self._legends.append("")
        elif tag == "legend":
            self._legend_text = []
        elif tag in _HEADINGS:
            self._heading_text = []
        elif tag == "option" and self._select is not None:
            self._end_option()
            self._option = (attributes.get("value", "\0"), [], self._tag())
        elif tag == "button":
            self._button = True
        elif tag in ("input", "select", "textarea"):
            self._add_field(tag, attributes)
        if "id" in attributes and tag not in ("input", "select", "textarea", "form"):
            self._collecting.append((tag, attributes["id"]))
            self.texts[attributes["id"]] = []

    def _tag(self, value: str = "") -> Tag:
        return Tag(self._position, self.get_starttag_text() or "", value)

    def _note_address(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "base":
            self.addresses["base"] = attributes.get("href", "")
        elif attributes.get("rel", "").lower() == "canonical":
            self.addresses["canonical"] = attributes.get("href", "")
        elif attributes.get("property", "").lower() == "og:url":
            self.addresses["og:url"] = attributes.get("content", "")

    def handle_comment(self, data: str) -> None:
        # Browsers write where a page was saved from into its first lines.
        found = _SAVED_FROM.search(data)
        if found:
            self.addresses.setdefault("saved", found[1])

    def site_of(self, form: int) -> str:
        """The host that a form's values go to, as far as the page says."""
        named = (self.addresses.get(k, "") for k in ("saved", "base", "canonical", "og:url"))
        return next((host for url in (self.actions[form], *named) if (host := host_of(url))), "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT_TAGS:  # <script/> opens nothing
            return
        self.handle_starttag(tag, attrs)

    def _add_field(self, tag: str, attributes: dict[str, str]) -> None:
        kind = attributes.get("type", "text").lower()
        if tag == "input" and kind in _SKIPPED_TYPES:
            if kind in ("submit", "button"):
                self.form_words[self._form].append(attributes.get("value", ""))
            return
        if len(self.drafts) > 4 * MAX_FIELDS:
            return
        draft = _Draft(
            tag=tag,
            attributes=attributes,
            at=self._tag(attributes.get("value", "on")),
            wrapped_label=self._label[1] if self._label else None,
            legend=self._legends[-1] if self._legends else "",
            heading=self._heading,
            before=tuple(self._pieces[-_CONTEXT_PIECES:]),
            form=self._form,
            hidden="hidden" in attributes
            or attributes.get("aria-hidden") == "true"
            or bool(_HIDDEN_STYLE.search(attributes.get("style", ""))),
        )
        self.drafts.append(draft)
        if tag == "select":
            self._select = draft
        elif tag == "textarea":
            self._textarea = draft

    def handle_endtag(self, tag: str) -> None:
        if self._textarea is not None:
            if tag == "textarea":
                self._textarea.closes, self._textarea = self._position, None
            return
        if tag in _SILENT_TAGS:
            self._silent = max(0, self._silent - 1)
        elif tag == "form":
            self._form = 0
        elif tag == "label" and self._label is not None:
            target, words = self._label
            if target and words:
                self.labels[target].append(" ".join(words))
            self._label = None
        elif tag == "fieldset" and self._legends:
            self._legends.pop()
        elif tag == "legend" and self._legend_text is not None:
            if self._legends:
                self._legends[-1] = " ".join(self._legend_text)
            self._legend_text = None
        elif tag in _HEADINGS and self._heading_text is not None:
            self._heading, self._heading_text = " ".join(self._heading_text), None
        elif tag == "option":
            self._end_option()
        elif tag == "select":
            self._end_option()
            self._select = None
        elif tag == "button":
            self._button = False
        # An element left open ends with the page; search from the innermost one.
        for position in range(len(self._collecting) - 1, max(-1, len(self._collecting) - 9), -1):
            if self._collecting[position][0] == tag:
                del self._collecting[position:]
                break

    def _end_option(self) -> None:
        if self._option is None or self._select is None:
            return
        value, words, tag = self._option
        text = " ".join(words)
        option = Option(text if value == "\0" else value, text)
        self._select.options.append(option)
        self._select.choices.append(replace(tag, value=option.value))
        self._option = None

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if not text or self._silent or self._textarea is not None:
            return
        if self._option is not None:
            self._option[1].append(text)
            return
        if self._select is not None:
            return
        text = text[:_PIECE_CHARACTERS]
        if self._button:
            self.form_words[self._form].append(text)
            return
        for _, identity in self._collecting[-8:]:
            if len(self.texts[identity]) < _CONTEXT_PIECES:
                self.texts[identity].append(text)
        if self._label is not None:
            self._label[1].append(text)
        if self._legend_text is not None:
            self._legend_text.append(text)
        if self._heading_text is not None:
            self._heading_text.append(text)
        self._pieces.append(text)
        if self.drafts and len(self.drafts[-1].after) < _CONTEXT_PIECES:
            self.drafts[-1].after.append(text)


def read_page(text: str) -> Page:
    """Every fillable field in document order; none when the text is no page with a form."""
    reader = _PageReader(text)
    try:
        reader.feed(text)
        reader.close()
    except (_Unclosed, AssertionError):  # the parser asserts on some broken declarations
        return Page()
    fields: list[FormField] = []
    spots: list[Spot] = []
    radios: dict[tuple[int, str], int] = {}
    labelled = _labels(reader)
    for number, draft in enumerate(reader.drafts):
        made = _field(draft, reader, number + 1, labelled[number])
        if made.type != "radio" or not draft.attributes.get("name"):
            fields.append(made)
            spots.append(Spot(draft.at, tuple(draft.choices), draft.closes))
            continue
        choice = Option(draft.at.value, made.label)
        group = (draft.form, made.name)
        # The label of one radio names a choice; the question is the legend or the text before.
        question = draft.legend or (made.text_before[-1] if made.text_before else "")
        if group in radios:
            place = radios[group]
            first, spot = fields[place], spots[place]
            apart = draft.legend != first.section and bool(draft.legend)
            others = (*first.other_labels, question) if apart else first.other_labels
            fields[place] = replace(first, options=(*first.options, choice), other_labels=others)
            spots[place] = replace(spot, choices=(*spot.choices, draft.at))
            continue
        radios[group] = len(fields)
        fields.append(replace(made, label=question, options=(choice,), other_labels=()))
        spots.append(Spot(draft.at, (draft.at,)))
    return Page(tuple(fields), tuple(spots), reader.frames)


def _labels(reader: _PageReader) -> list[tuple[str, ...]]:
    """The labels of each field. An id that several fields share gives them its labels in turn,
    where there are as many, for then each stands by its own field."""
    sharing = Counter(draft.attributes.get("id", "") for draft in reader.drafts)
    met: Counter[str] = Counter()
    found: list[tuple[str, ...]] = []
    for draft in reader.drafts:
        identity = draft.attributes.get("id", "")
        own = reader.labels.get(identity, []) if identity else []
        if sharing[identity] > 1 and len(own) == sharing[identity]:
            own = [own[met[identity]]]
        met[identity] += 1
        wrapped = " ".join(draft.wrapped_label or ())
        said = (text for text in (*own, wrapped) if any(map(str.isalnum, text)))
        found.append(tuple(dict.fromkeys(said)))
    return found


def _field(draft: _Draft, reader: _PageReader, number: int, labels: tuple[str, ...]) -> FormField:
    given = draft.attributes
    identity = given.get("id", "")
    described = " ".join(
        " ".join(reader.texts.get(target, ()))
        for target in given.get("aria-labelledby", "").split()[:4]
    ).strip()
    label = labels[0] if labels else ""
    kind = given.get("type", "text").lower() if draft.tag == "input" else draft.tag
    return FormField(
        name=given.get("name") or identity or label or f"field{number}",
        label=label or described,
        type=kind or "text",
        autocomplete=given.get("autocomplete", ""),
        id=identity,
        placeholder=given.get("placeholder", ""),
        hint=given.get("aria-label") or given.get("title", ""),
        text_before=draft.before,
        section=draft.legend or draft.heading,
        text_after=tuple(draft.after),
        options=tuple(draft.options),
        pattern=given.get("pattern", ""),
        min_length=_length(given.get("minlength", "")) or 0,
        max_length=_length(given.get("maxlength", "")),
        other_labels=labels[1:],
        site=reader.site_of(draft.form),
        form=draft.form,
        form_words=" ".join(w for w in reader.form_words[draft.form] if w)[:400],
        hidden=draft.hidden,
    )


def _length(text: str) -> int | None:
    """A length that a person may meet; None for nonsense and for none at all."""
    sensible = text.isascii() and text.isdigit() and len(text) < 10
    return (int(text) or None) if sensible else None
