"""Erasure of training data and persona lines that used a memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from store.database.connection import Connection
from store.erasure.fingerprints import codes, stream, windows
from store.row_codecs import row_id


def erase_learned(
    rows: Connection, ids: Collection[str], texts: Iterable[str], turns: Collection[str]
) -> None:
    """Remove what was learned from memories that are erased, inside the erasing transaction.

    Pairs and judgements go that rest on one of ``ids``, belong to one of ``turns``, or say anything
    that only the erased ``texts`` said (the memories are gone from their table already). Networks
    trained on one of them lose their numbers; the shipped start takes their place.
    """
    gone = {row_id("m", memory, "memory") for memory in ids}
    exchanges = {row_id("t", turn, "turn") for turn in turns}
    resting = {
        row["episode"]
        for row in rows.query("SELECT episode, memory FROM episode_memories")
        if row["memory"] in gone
    }
    erased = ErasedText(rows, texts)
    for row in rows.query("SELECT id, turn, question, answer FROM episodes"):
        quotes = erased.quoted(f"{row['question']} {row['answer']}")
        if row["id"] in resting or row["turn"] in exchanges or quotes:
            rows.execute("DELETE FROM episodes WHERE id = ?", [row["id"]])
    for row in rows.query("SELECT id, turn, answer FROM feedback"):
        if row["turn"] in exchanges or erased.quoted(row["answer"] or ""):
            rows.execute("DELETE FROM feedback WHERE id = ?", [row["id"]])
    trained = {
        row["weights"]
        for row in rows.query("SELECT weights, memory FROM weights_memories")
        if row["memory"] in gone
    }
    for key in trained:
        rows.execute(
            "UPDATE weights SET flat = NULL, state = 'removed', due = active, active = 0, "
            "figures = '{}' WHERE id = ?",
            [key],
        )
        rows.execute("DELETE FROM weights_memories WHERE weights = ?", [key])


def erase_personas(rows: Connection, ids: Collection[str], texts: Iterable[str]) -> None:
    """Remove what was refined from memories that are erased, inside the erasing transaction.

    A line goes with any of its evidence, since its words may tell what that said; it is made anew
    from what is left. What the person wrote themselves goes only where it rests on nothing else or
    repeats something that only the erased ``texts`` said.
    """
    gone = {row_id("m", memory, "memory") for memory in ids}
    resting: dict[int, set[int]] = {}
    for row in rows.query("SELECT line, memory FROM persona_evidence"):
        resting.setdefault(row["line"], set()).add(row["memory"])
    erased = ErasedText(rows, texts)
    for row in rows.query("SELECT id, hand, text FROM persona_lines"):
        rests_on = resting.get(row["id"], set())
        touched = bool(rests_on & gone)
        words = f"{row['hand'] or ''} {row['text']}"
        if (touched and row["hand"] is None) or not rests_on - gone or erased.quoted(words):
            rows.execute("DELETE FROM persona_lines WHERE id = ?", [row["id"]])
        elif touched:
            # Only the person's words stay: what the model had made of it told of the memory too.
            rows.execute("UPDATE persona_lines SET text = hand WHERE id = ?", [row["id"]])
            rows.execute("DELETE FROM persona_changes WHERE line = ?", [row["id"]])
    for memory in gone:
        rows.execute("DELETE FROM persona_evidence WHERE memory = ?", [memory])
    for row in rows.query("SELECT id, hand FROM persona_changes WHERE hand IS NOT NULL"):
        if erased.quoted(row["hand"]):
            rows.execute("DELETE FROM persona_changes WHERE id = ?", [row["id"]])


class ErasedText:
    """What only the erased texts said: stretches of them and codes in them."""

    def __init__(self, rows: Connection, texts: Iterable[str]) -> None:
        kept = tuple(texts)
        self._windows = {window for text in kept for window in windows(text)}
        self._codes = {code for text in kept for code in codes(text)}
        for row in rows.query("SELECT text FROM memories"):
            if not self._windows and not self._codes:
                break
            folded = stream(row["text"])
            self._windows -= {window for window in self._windows if window in folded}
            self._codes -= codes(row["text"])

    def quoted(self, text: str) -> bool:
        folded = stream(text)
        return bool(self._codes & codes(text)) or any(w in folded for w in self._windows)
