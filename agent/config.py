"""Settings: the only reader of the environment and of ``config.toml``.

A value comes from the command line, else the environment, else the file, else the default, and
remembers which. A space (docs/spaces.md) has a file of its own before that. Everything else in
memlane receives a frozen ``Config``; ``config_edit`` writes the files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_cache_path, user_config_path, user_data_path

from agent.server_address import looks_like_address, parse_address
from store.errors import InvalidInput
from store.spaces import MAIN, SETTINGS_NAME, ensure_exists, home_of

Origin = Literal["command line", "environment", "file", "default"]
APP = "memlane"
DEFAULT_LLM = "qwen2.5-coder-1.5b"
DEFAULT_POLICY = "scout"
BUILT_IN_ENCODER = "all-minilm-l6-v2"
"""The sentence encoder that the shipped weights were trained on."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One configurable value: its key in ``config.toml`` and what it means."""

    key: str
    default: Callable[[], str]
    help: str
    kind: Literal["text", "path", "count", "percent", "model", "switch", "list"] = "text"

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"MEMLANE_{self.key.upper()}"


SETTINGS: tuple[Setting, ...] = (
    Setting("home", lambda: str(user_data_path(APP)), "folder of your memory", "path"),
    Setting(
        "models_dir",
        lambda: str(user_cache_path(APP) / "models"),
        "folder for model weights",
        "path",
    ),
    Setting(
        "llm",
        lambda: DEFAULT_LLM,
        "language model: a name, the path of a GGUF, or the address of a server on this machine",
        "model",
    ),
    Setting(
        "server_model", lambda: "", "model to request from a server; empty: the first in its list"
    ),
    Setting(
        "reward_llm",
        lambda: "",
        "model that scores memories: a name or the path of a GGUF; empty: the llm",
        "model",
    ),
    Setting("embedder", lambda: BUILT_IN_ENCODER, "sentence encoder: a name or a folder"),
    Setting(
        "next_embedder",
        lambda: "",
        "sentence encoder that the home moves to in the background (memlane models use-encoder)",
    ),
    Setting("policy", lambda: DEFAULT_POLICY, "how memories are chosen for a question"),
    Setting("k", lambda: "6", "how many memories a policy with a fixed number takes", "count"),
    Setting("threads", lambda: str(_cores()), "processor threads for the models", "count"),
    Setting("context", lambda: "8192", "size of the language model's context, in tokens", "count"),
    Setting("batch", lambda: "128", "largest number of tokens scored at once", "count"),
    Setting(
        "resident",
        lambda: "yes",
        "commands leave a process behind that answers the next one at once",
        "switch",
    ),
    Setting("idle_minutes", lambda: "10", "minutes until unused models are unloaded", "count"),
    Setting(
        "model_timeout",
        lambda: "120",
        "seconds without a response until a model is restarted",
        "count",
    ),
    Setting(
        "reward_cache_mb", lambda: "200", "size limit of the reward cache, in megabytes", "count"
    ),
    Setting(
        "keep_secrets",
        lambda: "no",
        "store card numbers, passwords, keys and one-time codes unchanged",
        "switch",
    ),
    Setting(
        "ignore",
        lambda: "",
        "files that are never ingested, as in .gitignore; separated by ;",
        "list",
    ),
    Setting(
        "persona_share",
        lambda: "0",
        "largest share of inferred lines in the context of an answer, in percent",
        "percent",
    ),
    Setting(
        "join_share",
        lambda: "25",
        "share of joined profiles in the context of a prediction, in percent",
        "percent",
    ),
    Setting(
        "watch_on_battery", lambda: "no", "work that nobody waits for runs on battery too", "switch"
    ),
    Setting(
        "notify", lambda: "no", "the resident process shows reminders on the desktop", "switch"
    ),
    Setting(
        "notify_minutes",
        lambda: "60",
        "minutes before an event when its reminder is shown",
        "count",
    ),
    Setting(
        "notify_today",
        lambda: "no",
        "the resident process shows the counts of memlane today on the desktop, once a day",
        "switch",
    ),
    Setting(
        "agents",
        lambda: "",
        "what other programs may do over MCP: 'NAME: search why remember edit forget'; separated "
        "by ;",
        "list",
    ),
    Setting(
        "hook_exclude",
        lambda: "",
        "folders in which hooks of coding agents are off (memlane hook); separated by ;",
        "list",
    ),
)

OF_A_SPACE = frozenset(
    "agents hook_exclude ignore keep_secrets notify notify_minutes notify_today persona_share "
    "watch_on_battery".split()
)
"""Settings that a space may have for itself."""
NOT_INHERITED = frozenset({"agents", "hook_exclude"})
"""Of these, what a program may do: the file of all spaces allows it in ``main`` alone."""


def _cores() -> int:
    """Physical cores this process may use; more threads than that slow a model down."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len({_sharing_core(cpu) for cpu in os.sched_getaffinity(0)}))
    return os.cpu_count() or 1


def _sharing_core(cpu: int) -> str:
    """The hardware threads of a processor's core; itself where the system does not tell."""
    try:
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        return (topology / "thread_siblings_list").read_text(encoding="ascii").strip()
    except OSError:
        return str(cpu)


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting of one run, and where each came from."""

    home: Path
    """The folder of the database: of a space its own, inside of the person's home."""
    models_dir: Path
    llm: str
    """A built-in name, a path, or the address of a server."""
    server_model: str
    reward_llm: str
    embedder: str
    next_embedder: str
    """The encoder that the home is moving to; empty: none (``memory.vectors.encoder_move``)."""
    policy: str
    k: int
    threads: int
    context: int
    batch: int
    resident: bool
    """Whether a command leaves a resident process behind (``server.resident.leave_behind``)."""
    idle_minutes: int
    model_timeout: int
    reward_cache_mb: int
    keep_secrets: bool
    """Whether secrets are stored as they stand (``agent.language.redaction``)."""
    ignore: tuple[str, ...]
    """Patterns of files that are never ingested (``agent.io.ignore_rules``)."""
    persona_share: int
    """Percent of the memories behind an answer that may be persona lines
    (``applications.personas``)."""
    join_share: int
    """Percent of what a prediction reads that joined profiles give; none of them unasked."""
    watch_on_battery: bool
    notify: bool
    """Whether the resident process shows reminders on the desktop
    (``services.desktop_notifications``)."""
    notify_minutes: int
    notify_today: bool
    """Whether it shows the counts of a day's digest, each morning."""
    agents: tuple[str, ...]
    """What other programs may do (``agent.server.mcp.permissions``)."""
    hook_exclude: tuple[str, ...]
    """Folders in which the hooks of coding agents give nothing (``agent.server.hooks``)."""
    file: Path
    """The ``config.toml`` that was (or would be) read; of a space its own."""
    origins: Mapping[str, Origin]
    fixed_now: datetime | None = None
    """A clock that stands still (``--now``); None for the real one."""
    space: str = MAIN

    @property
    def root(self) -> Path:
        """The person's home, with all its spaces."""
        return self.home if self.space == MAIN else self.home.parent.parent

    @property
    def llm_is_server(self) -> bool:
        """Whether a server completes, rather than a model in this process."""
        return looks_like_address(self.llm)

    @property
    def reward_model(self) -> str:
        """The model that gives rewards: always one in this process, for a server tells too little
        of its probabilities."""
        return self.reward_llm or (DEFAULT_LLM if self.llm_is_server else self.llm)

    def now(self) -> datetime:
        """The present, aware, to the second."""
        return self.fixed_now or datetime.now().astimezone().replace(microsecond=0)


def config_file() -> Path:
    """``$MEMLANE_CONFIG``, else ``config.toml`` in the platform's user config directory."""
    given = os.environ.get("MEMLANE_CONFIG")
    return Path(given) if given else user_config_path(APP) / "config.toml"


def load_config(
    given: Mapping[str, str | None] | None = None, *, now: datetime | None = None
) -> Config:
    """Settle every setting; ``given`` is what the command line says.

    :raises InvalidInput: if a file is no TOML, names an unknown setting, a value is unusable, or
        there is no such space.
    """
    given = given or {}
    file = config_file()
    stored = read_file(file)
    space = given.get("space") or os.environ.get("MEMLANE_SPACE") or MAIN
    own: dict[str, str] = {}
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for setting in SETTINGS:
        offers: tuple[tuple[Origin, str | None], ...] = (
            ("command line", given.get(setting.key)),
            ("environment", os.environ.get(setting.variable)),
            ("file", own.get(setting.key)),
            ("file", stored.get(setting.key)),
            ("default", setting.default()),
        )
        origin, value = next(
            (origin, value or "") for origin, value in offers if value or origin == "default"
        )
        values[setting.key] = parsed(setting, value, origin, file)
        origins[setting.key] = origin
        if setting.key == "home" and space != MAIN:  # the first of all settings
            root = values["home"]
            ensure_exists(root, space)
            values["home"] = home_of(root, space)
            stored = {key: told for key, told in stored.items() if key not in NOT_INHERITED}
            own, file = _settings_of(values["home"]), values["home"] / SETTINGS_NAME
    return Config(**values, file=file, origins=origins, fixed_now=now, space=space)


def _settings_of(home: Path) -> dict[str, str]:
    """What the file of a space says. :raises InvalidInput: if it says what holds for all."""
    own = read_file(home / SETTINGS_NAME)
    if others := sorted(own.keys() - OF_A_SPACE):
        raise InvalidInput(
            f"{home / SETTINGS_NAME} has {others[0]!r}, which no space has for itself. Take it out."
        )
    return own


def read_file(file: Path) -> dict[str, str]:
    """The settings that ``config.toml`` names; none where there is no such file.

    :raises InvalidInput: if it is no TOML or names an unknown setting.
    """
    import tomllib  # late: most homes have no such file, and every command reads this module

    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"Cannot read the configuration {file}: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{file} is not valid TOML: {error}. Fix or remove it.") from error
    known = {setting.key for setting in SETTINGS}
    for key in table:
        if key not in known:
            raise InvalidInput(
                f"{file} has an unknown setting {key!r}. Settings: {', '.join(sorted(known))}."
            )
    return {
        key: "\n".join(map(str, value)) if isinstance(value, list) else str(value)
        for key, value in table.items()
    }


_SWITCH = {"yes": True, "true": True, "on": True, "1": True} | {
    "no": False, "false": False, "off": False, "0": False
}  # fmt: skip


MOST_DIGITS = 9
"""Of a whole number in the settings: what any counter and any array takes."""


def parsed(
    setting: Setting, value: str, origin: str, file: Path
) -> str | int | Path | tuple[str, ...]:
    if setting.kind == "path":
        try:
            return Path(value).expanduser().absolute()
        except RuntimeError as error:  # ~NAME of nobody
            raise InvalidInput(f"{setting.key} is no folder: {value!r:.80} ({error}).") from error
    where = {"file": str(file), "environment": setting.variable}.get(origin, origin)
    if setting.kind == "switch":
        if value.strip().lower() not in _SWITCH:
            raise InvalidInput(f"{setting.key} must be yes or no, not {value!r} ({where}).")
        return _SWITCH[value.strip().lower()]
    if setting.kind == "list":
        parts = (part.strip() for part in value.replace(";", "\n").splitlines())
        return tuple(part for part in parts if part)
    if setting.kind == "count":
        if not value.isdecimal() or len(value) > MOST_DIGITS or int(value) < 1:
            raise InvalidInput(
                f"{setting.key} must be a whole number of at least 1, not {value!r:.80} ({where})."
            )
        return int(value)
    if setting.kind == "percent":
        if not value.isdecimal() or len(value) > MOST_DIGITS or int(value) > 100:
            raise InvalidInput(
                f"{setting.key} must be a whole number from 0 to 100, not {value!r:.80} ({where})."
            )
        return int(value)
    if setting.kind == "model" and looks_like_address(value):
        return _checked_address(setting, value, origin, file)
    return value


def _checked_address(setting: Setting, value: str, origin: str, file: Path) -> str:
    """A server the person may name here: any in the file, only this machine's elsewhere."""
    if setting.key != "llm":
        raise InvalidInput(
            f"{setting.key} cannot be a server: servers return too few probabilities. Name a "
            "model of 'memlane models list', or a GGUF file."
        )
    address = parse_address(value)
    # Trigger: a host beyond this machine that is not in the file.
    # Why: a variable or an argument is easily slipped in, and all that is said would go there.
    # Outcome: only who can write the person's own configuration can send it elsewhere.
    if not address.local and origin != "file":
        raise InvalidInput(
            f"{address.host} is not this machine, and what you tell memlane would be sent there. "
            f'If you want that, write it into {file} by hand: llm = "{address.url}"'
        )
    return address.url


def injected_fault() -> str:
    """``$MEMLANE_FAULT``: how a test wants a model's process to fail; empty in real life."""
    return os.environ.get("MEMLANE_FAULT", "")
