"""Started by the system or by hand, and ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.server.resident.paths import LONGEST_SOCKET, Place, bind
from agent.server.resident.starting.autostart import launchd_agent, systemd_unit
from store.errors import HomeUnavailable


def test_a_unit_quotes_what_systemd_would_read(tmp_path: Path):
    unit = systemd_unit(["/opt/my py/python", "--home", '/home/a"b/100%$x'], tmp_path)
    assert 'ExecStart="/opt/my py/python" "--home" "/home/a\\"b/100%%$$x"' in unit.content
    assert unit.path == tmp_path / "systemd" / "user" / "memlane.service"


def test_an_agent_of_macos_is_a_property_list(tmp_path: Path):
    import plistlib

    unit = launchd_agent(["/usr/bin/python3", "up"], tmp_path, 501)
    assert plistlib.loads(unit.content.encode())["ProgramArguments"] == ["/usr/bin/python3", "up"]
    assert unit.start.startswith("launchctl bootstrap gui/501 ")


def test_install_writes_the_file_and_starts_nothing(own_home, tmp_path, memlane, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    done = memlane("up", "--install", "--json")
    assert Path(done.json["file"]).is_relative_to(tmp_path)
    assert "up" in Path(done.json["file"]).read_text()
    assert not Place(own_home).socket.exists()


def test_down_without_one_says_so(memlane):
    done = memlane("down", "--json")
    assert (done.code, done.json["stopped"]) == (0, None)


def test_a_home_that_cannot_hold_a_socket_says_so(tmp_path: Path, monkeypatch):
    home = tmp_path / ("x" * LONGEST_SOCKET)
    home.mkdir()
    shared = tmp_path / "open"
    shared.mkdir(mode=0o755)
    monkeypatch.setattr(Place, "socket", property(lambda self: shared / "a.sock"))
    with pytest.raises(HomeUnavailable, match="others can access"):
        bind(Place(home))
