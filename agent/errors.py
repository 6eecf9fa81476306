"""Errors of models and files, each with a remedy.

MemlaneError (store.errors)
├── ModelError
│   ├── ModelMissing         no such model is installed; the message names the install command
│   ├── ModelDamaged         the file is truncated, has another hash or is no GGUF
│   ├── PromptTooLong        the prompt does not fit the context
│   ├── ModelCrashed         a model's process died twice on one request; nothing else is harmed
│   ├── EmptyContinuation    nothing to score, or nothing to choose from
│   └── ServerUnavailable    the configured model server does not answer, or not as it should
├── UnreadableSource         a file that cannot be read as what its name says
├── TooLittleToLearn         too few memories, or too few pairs that hold, to train on
├── Refused                  a request to the page of `memlane web` that may not come in
├── NotRemembered        no memory leads to what was asked for
├── NotShown             this machine shows no notification
└── NotAllowed           a program asks for what the person has not allowed it
"""

from __future__ import annotations

from store.errors import MemlaneError


class ModelError(MemlaneError):
    """A language, embedding or reading model cannot be used."""


class ModelMissing(ModelError):
    """No such model is installed. The message names the command that installs it."""


class ModelDamaged(ModelError):
    """The model file is truncated, is no GGUF, or has another SHA-256 than it should."""


class PromptTooLong(ModelError):
    """The prompt does not fit the model's context; it is never cut silently."""


class ModelCrashed(ModelError):
    """A model's process died, or fell silent, twice on one request."""


class EmptyContinuation(ModelError):
    """There is nothing to score behind a prompt, or nothing to choose from."""


class ServerUnavailable(ModelError):
    """The model server of the configuration does not answer, refuses, or speaks otherwise."""


class UnreadableSource(MemlaneError):
    """A file that is empty, truncated, unreadable, or not what its name says."""


class TooLittleToLearn(MemlaneError):
    """There are too few memories, or too few question-answer pairs that hold, to train on."""


class Refused(MemlaneError):
    """A request to the page of ``memlane web`` from where, or with what, it may not come in."""


class NotRemembered(MemlaneError):
    """No memory leads to what was asked for; the message says what is missing."""


class NotShown(MemlaneError):
    """A desktop notification could not be shown."""


class NotAllowed(MemlaneError):
    """Another program asks for what the person has not allowed it."""


def of_the_system(error: OSError) -> UnreadableSource:
    """What the system refused, such as a name that is too long, in one line."""
    reason = error.strerror or str(error)
    where = f" {str(error.filename)[:200]}" if error.filename else " a file"
    return UnreadableSource(f"Cannot use{where}: {reason}.")


def of_kind(name: str) -> type[MemlaneError]:
    """The error of this name among those whose modules are loaded; else ``MemlaneError``."""
    kinds: list[type[MemlaneError]] = [MemlaneError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return next((kind for kind in kinds if kind.__name__ == name), MemlaneError)
