"""Rules of the house that would drift without a test."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LADDER = ("store", "policies", "agent", "cli")
MODEL_PACKAGES = {"llama_cpp", "sentence_transformers", "torch", "rapidocr", "onnxruntime"}


def imports(path: Path) -> set[str]:
    """Top-level packages that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", LADDER)
def test_imports_point_one_way(package: str):
    above = set(LADDER[LADDER.index(package) + 1 :]) | {"tests", "benchmarks"}
    for path in modules(package):
        assert not imports(path) & above, f"{path.relative_to(ROOT)} looks up"


def test_model_packages_are_imported_by_adapters_only():
    for package in LADDER:
        for path in modules(package):
            if path.parent.name != "adapters":
                found = imports(path) & MODEL_PACKAGES
                assert not found, f"{path.relative_to(ROOT)} imports {found}"


def test_only_the_configuration_reads_the_environment():
    for path in modules("agent") + modules("policies") + modules("store"):
        text = path.read_text(encoding="utf-8")
        reads = "os.environ" in text or "os.getenv" in text
        if reads and path.name != "config.py":
            # An adapter may silence its library, which only takes settings that way.
            assert path.parent.name == "adapters", path
            assert "os.environ.get" not in text, path


@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["memories", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]):
    code = (
        "import sys; from cli.app import run; code = run(sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert not loaded & (MODEL_PACKAGES | {"numpy", "faiss", "networkx", "sqlite_utils"})
