"""Result files are of the code of a commit, or say that they are not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.shared import common
from benchmarks.shared.results_page.report import Files, uncommitted


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with one module and one result file, and the benchmarks writing into it."""
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    (tmp_path / "code.py").write_text("X = 1\n")
    (tmp_path / "benchmarks" / "results" / "old.json").write_text("{}\n")
    (tmp_path / ".gitignore").write_text("build/\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True)
    monkeypatch.setattr(common, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["benchmark"])
    common.revision.cache_clear()
    yield tmp_path
    common.revision.cache_clear()


def written(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def test_a_committed_tree_writes_its_commit(tree):
    path = common.write_results("speed", {}, [0], {"ms": 1.0})
    assert path == tree / "benchmarks" / "results" / "speed.json"
    assert len(written(path)["revision"]) == 40


def test_a_changed_tree_is_refused_in_one_line_and_loses_no_figure(tree):
    (tree / "code.py").write_text("X = 2\n")
    with pytest.raises(SystemExit, match="not committed") as refusal:
        common.write_results("speed", {}, [0], {"ms": 1.0})
    assert "\n" not in str(refusal.value)
    assert not (tree / "benchmarks" / "results" / "speed.json").exists()
    kept = written(tree / "build" / "benchmarks" / "speed.dirty.json")
    assert kept["figures"] == {"ms": 1.0} and kept["revision"].endswith("-dirty")


def test_new_code_that_git_does_not_know_counts_as_a_change(tree):
    (tree / "more.py").write_text("Y = 1\n")
    with pytest.raises(SystemExit):
        common.write_results("speed", {}, [0], {"ms": 1.0})


def test_the_flag_allows_it_and_the_file_says_so(tree, monkeypatch):
    (tree / "code.py").write_text("X = 2\n")
    monkeypatch.setattr(sys, "argv", ["benchmark", "--dirty"])
    path = common.write_results("speed", {}, [0], {"ms": 1.0})
    assert path.parent == tree / "benchmarks" / "results"
    assert written(path)["revision"].endswith("-dirty")


def test_a_quick_run_is_never_refused(tree):
    (tree / "code.py").write_text("X = 2\n")
    path = common.write_results("speed", {"quick": True}, [0], {"ms": 1.0})
    assert path.name == "speed.quick.json"


def test_result_files_and_docs_are_no_change_of_the_code(tree):
    (tree / "benchmarks" / "results" / "old.json").write_text("{} \n")
    (tree / "docs").mkdir()
    (tree / "docs" / "results.md").write_text("# Results\n")
    assert "-dirty" not in written(common.write_results("speed", {}, [0], {}))["revision"]


def test_the_revision_is_that_of_the_start(tree):
    common.parser("speed", "")
    (tree / "code.py").write_text("X = 2\n")  # a training run writes its weights before its figures
    assert "-dirty" not in written(common.write_results("speed", {}, [0], {}))["revision"]


def test_files_of_changed_trees_are_listed():
    files = Files({"a": {"revision": "0123-dirty"}, "b": {"revision": "0123"}})
    assert uncommitted(files) == ["a"]
