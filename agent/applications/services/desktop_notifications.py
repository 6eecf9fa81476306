"""Desktop notifications for reminders and for the day's digest, if enabled.

``notify`` and ``notify_today`` in ``config.toml``; off by default, because a screen may have other
eyes on it. Of the digest only the counts are shown.
Invariants: each occasion and each day is shown once, whichever process looks; what is shown
is plain text and never part of a command line; a memory that gives orders to an assistant is not
shown.
"""

from __future__ import annotations

import html
import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from agent.applications.services.reminders import Reminder, coming
from agent.applications.services.today import digest
from agent.applications.services.upcoming import Kind
from agent.config import Config
from agent.language.injection import as_data, steers
from agent.memory.home import open_graph
from store.errors import MemlaneError
from store.graph import MemoryGraph

log = logging.getLogger("memlane.resident")
Show = Callable[[str, str], bool]
"""Shows a title and a text; False where that failed."""

LOOK_S = 30.0
"""How often it is looked whether something is due."""
PLANNED_FOR = timedelta(hours=1)
"""How long what is coming is known without reading the memories again, if nothing changes."""
MORNING = timedelta(hours=8)
"""When on its day something without an hour is shown."""
TODAY = "memlane: today"
_LONGEST = 300
_PATIENCE_S = 10.0
_SCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


def notifier() -> Show | None:
    """What shows a notification on this machine; None where nothing does."""
    if sys.platform == "darwin" and (tool := shutil.which("osascript")):
        script = [word for line in _SCRIPT for word in ("-e", line)]
        return lambda title, text: _run([tool, *script, title, text])
    if tool := shutil.which("notify-send"):
        # The body may hold markup there, so that what is none is escaped.
        return lambda title, text: _run(
            [tool, "--app-name=memlane", "--", title, html.escape(text, quote=False)]
        )
    return None


def _run(command: Sequence[str]) -> bool:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def due(reminders: Sequence[Reminder], now: datetime, ahead: timedelta) -> tuple[Reminder, ...]:
    """Those to show now: ``ahead`` of their hour, or on the morning of their day."""
    return tuple(
        one
        for one in reminders
        if (
            one.when + MORNING <= now < one.when + timedelta(days=1)
            if one.all_day
            else one.when - ahead <= now < one.when
        )
        and not steers(one.memory.text)
    )


def show_due(
    graph: MemoryGraph, reminders: Sequence[Reminder], now: datetime, ahead: timedelta, show: Show
) -> int:
    """Show what is due and was not shown before; how many were. A failed one is tried again."""
    shown = 0
    for one in due(reminders, now, ahead):
        if not graph.notified.claim(one.memory.id, one.when, now):
            continue
        if show(*message(one)):
            shown += 1
        else:
            graph.notified.release(one.memory.id, one.when)
    return shown


def message(one: Reminder) -> tuple[str, str]:
    """Title and text of a notification."""
    title = {Kind.EXPIRY: "Last day", Kind.BIRTHDAY: "Birthday"}.get(one.kind, "Reminder")
    when = "today" if one.all_day else f"{one.when:%H:%M}"
    changed = "" if one.changed_by is None else " (probably changed since)"
    return f"memlane: {title}", as_data(f"{one.text}, {when}{changed}")[:_LONGEST]


def show_today(graph: MemoryGraph, now: datetime, show: Show) -> bool:
    """Show the counts of the day's digest from the morning on, once; whether it was shown now."""
    if now.hour < MORNING // timedelta(hours=1) or not graph.notified.claim_day(now.date()):
        return False
    if show(TODAY, digest(graph, now).summary):
        return True
    graph.notified.release_day(now.date())
    return False


def keep_showing(config: Config, stop: threading.Event, show: Show | None = None) -> None:
    """Show what becomes due until ``stop`` is set. Returns at once where nothing can show it."""
    show = show or notifier()
    if show is None:
        log.warning("notifications are on, but there is neither notify-send nor osascript")
        return
    ahead = timedelta(minutes=config.notify_minutes)
    with open_graph(config) as graph:
        known: tuple[Reminder, ...] = ()
        read: tuple[str, datetime] | None = None
        while not stop.wait(0 if read is None else LOOK_S):
            now = config.now()
            try:
                if config.notify_today and show_today(graph, now, show):
                    log.info("the digest of the day: shown")
                if not config.notify:
                    read = ("", now)
                    continue
                last = next((entry.id for entry in graph.journal.list(1)), "")
                if read is None or read[0] != last or now - read[1] >= PLANNED_FOR:
                    # Two days hold all that can become due before they are read again.
                    known, read = coming(graph, now, days=2 + ahead.days), (last, now)
                if count := show_due(graph, known, now, ahead, show):
                    log.info("reminders: %d shown", count)
            except MemlaneError as error:  # such as a full disk: the next look may do better
                log.warning("reminders: %s", type(error).__name__)
                read = read or ("", now)
