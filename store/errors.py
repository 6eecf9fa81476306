"""Errors of the store, each with a remedy.

    MemlaneError
    ├── StoreError
    │   ├── HomeUnavailable      the home cannot be created, read or written
    │   ├── StoreFull            no space is left on the disk
    │   ├── StoreBusy            another process holds the write lock for too long
    │   ├── CorruptStore         the file is no database, or is damaged
    │   ├── NewerStore           the file was written by a newer memlane
    │   └── HomeLocked           the home is encrypted, and nobody here has its key
    ├── UnknownId                no such memory, source, edit, turn or subclass
    ├── WeightsDamaged           a file of trained weights is missing, cut or changed
    ├── EditConflict             an edit or undo that later edits stand in the way of
    └── InvalidInput             text, a date or an option that cannot be used

Only ``cli`` turns them into exit codes.
"""

from __future__ import annotations


class MemlaneError(Exception):
    """Base of every error that memlane raises on purpose. Its message is for the user."""


class StoreError(MemlaneError):
    """The database cannot be used as it is."""


class HomeUnavailable(StoreError):
    """The home directory or the database file cannot be created, read or written."""


class StoreFull(StoreError):
    """The disk is full. Nothing of the interrupted write is stored."""


class StoreBusy(StoreError):
    """Another process kept the write lock for longer than we wait."""


class CorruptStore(StoreError):
    """The database file is damaged or is not a database."""


class NewerStore(StoreError):
    """The database was written by a newer version of memlane."""


class HomeLocked(StoreError):
    """The home is encrypted and this process has no key for it."""


class UnknownId(MemlaneError):
    """No row has this id."""


class WeightsDamaged(MemlaneError):
    """A file of trained weights is missing, cut, or not what was written."""


class EditConflict(MemlaneError):
    """Later edits touch the same memory, so this one cannot be applied or undone alone."""


class InvalidInput(MemlaneError):
    """The text, date or option cannot be used; the message says why."""
