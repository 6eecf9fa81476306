"""Changes of ``config.toml``, which keep everything else in it as it stands."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from agent.config import OF_A_SPACE, SETTINGS, Setting, config_file, parsed, read_file
from store.errors import HomeUnavailable, InvalidInput


def set_in_file(key: str, value: str, space: Path | None = None) -> Path:
    """Write one setting: into ``config.toml``, or into the file of a space.

    :raises InvalidInput: if there is no such setting, no space has it, or the value is unusable.
    :raises HomeUnavailable: if the file cannot be written.
    """
    setting = _known(key, space)
    if key == "policy":
        _check_policy(value)
    toml = _toml(parsed(setting, value, "command line", config_file()))
    return _edit(lambda document: document.update({key: toml}), space)


def value_of(key: str, text: str) -> object:
    """A setting's value as it is read from text: a number, a path, or the text itself.

    :raises InvalidInput: if there is no such setting, or the value is unusable.
    """
    return parsed(_known(key, None), text, "command line", config_file())


def unset_in_file(key: str, space: Path | None = None) -> Path:
    """Take one setting out; one that is not in it is no error.

    :raises InvalidInput: if there is no such setting, or no space has it.
    :raises HomeUnavailable: if the file cannot be written.
    """
    _known(key, space)
    return _edit(lambda document: document.pop(key, None), space)


def _known(key: str, space: Path | None) -> Setting:
    setting = next((s for s in SETTINGS if s.key == key), None)
    if setting is None:
        raise InvalidInput(
            f"There is no setting {key!r}. Settings: {', '.join(s.key for s in SETTINGS)}."
        )
    if space is not None and key not in OF_A_SPACE:
        raise InvalidInput(
            f"{key} holds for all spaces: leave --space out. A space has: "
            f"{', '.join(sorted(OF_A_SPACE))}."
        )
    return setting


def _edit(edit: Callable[[MutableMapping[str, Any]], object], space: Path | None) -> Path:
    import tomlkit

    file = space or config_file()
    read_file(file)  # a broken file is reported rather than overwritten
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        document = tomlkit.parse(file.read_text(encoding="utf-8") if file.exists() else "")
        edit(document)
        scratch = file.with_suffix(".tmp")
        scratch.write_text(tomlkit.dumps(document), encoding="utf-8")
        scratch.replace(file)
    except OSError as error:
        raise HomeUnavailable(f"Cannot write the configuration {file}: {error}.") from error
    return file


def _toml(value: str | int | Path | tuple[str, ...]) -> int | str | list[str]:
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, int) else str(value)


def _check_policy(name: str) -> None:
    from policies.registry import POLICIES  # late: only here all of them are needed

    usable = [policy for policy in POLICIES if policy != "oracle"]  # it knows the answers
    if name not in usable:
        raise InvalidInput(f"There is no policy {name!r} to use. Choose from: {', '.join(usable)}.")
