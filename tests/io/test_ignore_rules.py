"""What is left aside in a folder, and the reason that is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.io.ignore_rules import Ignore
from store.errors import InvalidInput


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for name in ("a.md", "b.log", "keep.log", ".secret.md", ".git/x.md", "private/c.md",
                 "sub/d.md", "sub/e.tmp", "sub/private.md"):  # fmt: skip
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return root


def told(root: Path, *patterns: str) -> dict[str, str | None]:
    return {
        str(file.path.relative_to(root)): file.skipped for file in Ignore(patterns).find([root])
    }


def test_hidden_files_and_folders_are_named_once(tree: Path):
    found = told(tree)
    assert found[".secret.md"] == found[".git"] == "hidden"
    assert ".git/x.md" not in found
    assert found["a.md"] is None


def test_rules_are_those_of_gitignore(tree: Path):
    (tree / ".memlaneignore").write_text("# mine\n*.log\n!keep.log\n/private/\n")
    found = told(tree)
    assert found["b.log"] == f"ignored by {tree / '.memlaneignore'}: *.log"
    assert found["keep.log"] is None
    assert found["private"] is not None
    assert found["sub/private.md"] is None
    assert ".memlaneignore" not in found


def test_an_inner_file_overrules_an_outer_one(tree: Path):
    (tree / ".memlaneignore").write_text("*.tmp\n")
    assert told(tree)["sub/e.tmp"] is not None
    (tree / "sub" / ".memlaneignore").write_text("!e.tmp\nd.md\n")
    found = told(tree)
    assert found["sub/e.tmp"] is None
    assert found["sub/d.md"] is not None


def test_the_setting_holds_everywhere_and_a_file_may_overrule_it(tree: Path):
    assert told(tree, "*.log", "sub/")["sub"] == "ignored by the setting ignore: sub/"
    (tree / ".memlaneignore").write_text("!b.log\n")
    assert told(tree, "*.log")["b.log"] is None


def test_a_named_file_is_read_whatever_the_rules_say(tree: Path):
    (file,) = Ignore(["*"]).find([tree / "a.md"])
    assert file.skipped is None


def test_rules_that_cannot_be_read_let_nothing_through(tree: Path):
    (tree / ".memlaneignore").write_bytes(b"\xff\xfe*.log")
    with pytest.raises(InvalidInput, match="cannot be read"):
        told(tree)


def test_one_path_is_judged_as_in_a_walk(tree: Path):
    (tree / ".memlaneignore").write_text("private/\n")
    rules = Ignore()
    assert rules.why(tree / "private" / "c.md", tree) is not None
    assert rules.why(tree / ".git" / "x.md", tree) == "hidden"
    assert rules.why(tree / "sub" / "d.md", tree) is None
    assert rules.why(tree / "private", tree) is not None
    (tree / ".memlaneignore").write_text("sub/*.md\n")
    assert all(
        file.skipped for file in Ignore().find([tree / "sub"], tree) if file.path.suffix == ".md"
    )


def test_ingest_reports_what_it_left_aside(tree: Path, session):
    (tree / ".memlaneignore").write_text("*.md\n!a.md\n*.log\n*.tmp\n")
    (tree / "a.md").write_text("My cat is called Miso.")
    reports = {Path(r.path).name: r for r in session.ingest([tree])}
    assert reports["a.md"].status == "new"
    assert reports["d.md"].status == "skipped"
    assert "*.md" in reports["d.md"].reason
    assert reports[".git"].reason == "hidden"
