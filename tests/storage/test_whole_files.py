"""Files that are there whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.database.whole_files import whole_file


def test_a_file_takes_its_place_when_it_is_whole_and_only_its_owner_reads_it(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")
    with whole_file(path) as file:
        file.write(b"after")
        assert path.read_bytes() == b"before"
        assert [one.stat().st_mode & 0o077 for one in tmp_path.iterdir() if one != path] == [0]
    assert path.read_bytes() == b"after"
    assert path.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_half_way_leaves_the_file_as_it_was(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")
    with pytest.raises(KeyError), whole_file(path) as file:
        file.write(b"half")
        raise KeyError
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for wrong in (Path(), tmp_path):
        with pytest.raises(IsADirectoryError), whole_file(wrong) as file:
            file.write(b"x")
    assert list(tmp_path.iterdir()) == []
