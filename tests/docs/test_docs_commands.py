"""Every command that README.md, CONTRIBUTING.md and docs/ show runs, or is marked as an example.

``tests.support.documented`` tells the conventions. Commands run in a copy of one home
(``tests.support.documented_home``) with scripted language models, at the time of the README's
conversation.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

import agent.session.session
from agent.models.prompt_cache import PromptCache
from agent.ports import Embedder
from tests.conftest import Result
from tests.support.documented import (
    ROOT,
    Command,
    Piece,
    documents,
    of_help,
    pieces,
    understood,
)
from tests.support.documented_home import PAGE, DocsModel, DocsRewards, lay_out, prepare

Memlane = Callable[..., Result]
NOW = "2024-05-08T09:00+00:00"
ALL = [piece for page in documents() for piece in pieces(page)]
HELP = of_help()

PLACEHOLDERS = {
    "FOLDER": "notes",
    "PATH": "model.gguf",
    "PATH...": "notes",
    "FILE": "memlane.zip",
    "ID": "e12",
    "NAME": "claude-code",
    "QUESTION": "Tea or coffee?",
    "A": "tea",
    "B": "coffee",
    "HOME": "ann",
    "TEXT": "My locker code is 4411.",
}
"""What stands for words that a person replaces."""
DOTS = {"say": "My bicycle is blue.", "ask": "Where do I live?"}
"""What '...' stands for, by command; elsewhere for a text."""

STAYS = [["web"], ["browser", "pair"], ["up", "--foreground"], ["watch", "--foreground"]]
"""Commands that go on until Ctrl-C, by how they begin; not with --json, --stop."""
RESIDENT = {"up", "down", "web", "browser"}
"""Commands with a process of their own: they get an empty home, where it has nothing to do."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    home = tmp_path_factory.mktemp("docs") / "home"
    prepare(home, embedder)
    return home


@pytest.fixture
def folder(
    tmp_path: Path, own_home: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """The person's folder, which is where the commands are run; scripted models."""
    person = tmp_path / "person"
    person.mkdir()
    lay_out(person, own_home)
    monkeypatch.chdir(person)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person / ".config"))
    opened = partial(
        agent.session.session.open_session,
        llm=DocsModel(),
        embedder=embedder,
        rewards=DocsRewards(),
    )
    monkeypatch.setattr(agent.session.session, "open_session", opened)
    # It lies beside the weights, which are those of this machine.
    monkeypatch.setattr(PromptCache, "clear", lambda cache: (0, 0))
    yield person


def filled(command: Command) -> list[str]:
    """The words with placeholders filled in, as a person would."""
    words = []
    for word in command.words:
        if word == "...":
            word = DOTS.get(command.words[0], "My bicycle is blue.")
        elif word in PLACEHOLDERS:
            word = PLACEHOLDERS[word]
        # A free port: another program may have that one.
        words.append("0" if word == "8765" else os.path.expanduser(word))
    trains = words[0] == "train" and not {"--status", "--rollback"} & set(words)
    return [*words, "--warm-start", "20", "--episodes", "2"] if trains else words


def test_the_docs_have_commands_and_few_of_them_are_marked():
    marked = [piece for piece in ALL if piece.example]
    assert len(ALL) > 80
    assert len(marked) < len(ALL) / 5
    assert len(HELP) > 80


PAGE_OF_COMMANDS = """
<!-- example -->
```
memlane models pull OWNER/REPO FILE
```

```
$ memlane ask "Where is my | bicycle?" --no-llm   # quickly
I don't know.
memlane: no command
$ cat form | memlane fill - && memlane down
```

```
cat form | memlane fill -
memlane.sock  the socket, memlane web
memlane web
```

`memlane memories forget` and `memories tree`, `memlane.sock`, `memlane forgets` <!-- example -->
are named. `claude mcp add memlane -- memlane mcp --client work`, `config.toml`, `say` are
`remind --days 3`.
"""


def test_commands_are_read_out_of_blocks_pipes_and_inline_code(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(PAGE_OF_COMMANDS)
    found = [(str(c), c.fed, p.example) for p in pieces(page) for c in p.commands]
    assert found == [
        ("memlane models pull OWNER/REPO FILE", False, True),
        ("memlane ask 'Where is my | bicycle?' --no-llm", False, False),
        ("memlane fill -", True, False),
        ("memlane down", False, False),
        ("memlane fill -", True, False),
        ("memlane web", False, False),
        ("memlane memories forget", False, True),
        ("memlane memories tree", False, True),
        ("memlane forgets", False, True),
        ("memlane mcp --client work", False, False),
        ("memlane remind --days 3", False, False),
    ]


@pytest.mark.parametrize(
    ("words", "lacking", "wrong"),
    [
        ("ask Where? --no-llm", False, ""),
        ("memories forget", True, "Missing argument"),
        ("fill --field", True, "requires an argument"),
        ("models", True, "needs a subcommand"),
        ("recall me", False, "No such command"),
        ("ask Where? --loudly", False, "No such option"),
        ("ask Where? When?", False, "unexpected extra argument"),
        ("memories forget --hardly", False, "No such option"),
    ],
)
def test_what_memlane_does_not_know_is_told(words: str, lacking: bool, wrong: str):
    read = understood(words.split())
    assert (read.lacking, wrong in read.wrong, bool(read.wrong)) == (lacking, True, bool(wrong))


def test_other_commands_name_what_there_is():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for page in documents():
        text = page.read_text(encoding="utf-8")
        assert "'memlane[" not in text, f"{page}: memlane is on no package index"
        for extras in re.findall(r"'\.\[([a-z,]+)\]'", text):
            assert set(extras.split(",")) <= set(project["optional-dependencies"]), page
        for module in re.findall(r"python3? -m ((?:benchmarks|cli|tests)[.\w]*\w)", text):
            if module != "benchmarks.NAME":
                assert find_spec(module), f"{page}: {module}"


@pytest.mark.parametrize("piece", [*ALL, *HELP], ids=str)
def test_each_command_is_one_that_memlane_knows(piece: Piece):
    for command in piece.commands:
        read = understood(command.words)
        assert not read.wrong or (read.lacking and piece.inline), f"{command}: {read.wrong}"


def to_run() -> list[Piece]:
    """What is neither an example nor a name alone; an inline command that stands twice once."""
    found: dict[object, Piece] = {}
    for piece in ALL:
        named = all(understood(command.words).lacking for command in piece.commands)
        if not piece.example and not named:
            words = tuple(command.words for command in piece.commands)
            found.setdefault(words if piece.inline else str(piece), piece)
    return list(found.values())


@pytest.mark.parametrize("piece", to_run(), ids=str)
def test_each_command_runs(
    piece: Piece, folder: Path, prepared: Path, own_home: Path, memlane: Memlane
):
    names = {command.words[0] for command in piece.commands}
    if not names & RESIDENT:
        shutil.copytree(prepared, own_home)
        memlane("backup", "--out", "memlane.zip")
    try:
        for command in piece.commands:
            words = filled(command)
            if any(words[: len(way)] == way for way in STAYS) and not {"--json", "--stop"} & set(
                words
            ):
                begun_and_interrupted(words)
                continue
            result = fed(memlane, words, PAGE if command.fed else "")
            if result.code == 2 and "Add --yes" in result.err:  # a person is asked, and says so
                result = fed(memlane, [*words, "--yes"], "")
            named = [word for word in words if not word.startswith("-")]
            if result.code == 2 and piece.inline and list(understood(words).path) == named:
                continue  # it wants more than its names, and is only named here
            # A refusal that the page shows is what comes of it.
            expected = (0, 1) if command.shown.startswith("memlane: ") else (0,)
            assert result.code in expected, f"{command}: {result.err}{result.out}"
    finally:
        if names & RESIDENT:
            memlane("down")


def fed(memlane: Memlane, words: list[str], text: str) -> Result:
    """Run a command with a text on its standard input, which then ends."""
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    try:
        return memlane("--now", NOW, *words)
    finally:
        sys.stdin = before


def begun_and_interrupted(words: list[str]) -> None:
    """Run a command that stays, until its first line, and then press Ctrl-C."""
    child = subprocess.Popen(
        [sys.executable, "-m", "cli.main", *words],
        env=dict(os.environ, PYTHONPATH=str(ROOT), PYTHONUNBUFFERED="1"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert child.stdout is not None
        first = child.stdout.readline()
        assert first and child.poll() is None, first
        rest = ended(child)
        assert child.returncode in (0, 130), first + rest
    finally:
        if child.poll() is None:
            child.kill()
        child.communicate()


def ended(child: subprocess.Popen[str]) -> str:
    """Press Ctrl-C, again where Python was just where it lets an interrupt go by."""
    for _ in range(10):
        child.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return child.communicate(timeout=6)[0]
    raise AssertionError("Ctrl-C does not end it")
