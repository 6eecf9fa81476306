"""What a refused command line prints."""

from __future__ import annotations

from tests.conftest import Result

KEPT = "My locker code is 4411."
"""A memory that no refusal may lose."""


def refused(result: Result, code: int, *words: str) -> None:
    """One line on stderr that holds ``words``, nothing on stdout, and this exit code."""
    assert result.code == code, result
    assert result.out == ""
    lines = result.err.strip().splitlines()
    assert len(lines) == 1, result.err
    assert lines[0].startswith("memlane: ")
    for word in words:
        assert word in lines[0], lines[0]
