"""Where a model server may be: on this machine, or where the person wrote by hand."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import httpx2
import pytest

from agent.config import load_config
from agent.config_edit import set_in_file
from agent.server_address import is_loopback, parse_address
from store.errors import InvalidInput


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("http://LOCALHOST:8080/", "http://localhost:8080/v1"),
        ("http://[::1]:8080/api/v1/", "http://[::1]:8080/api/v1"),
        ("https://127.9.9.9", "https://127.9.9.9/v1"),
    ],
)
def test_addresses_on_this_machine(given: str, url: str, monkeypatch):
    monkeypatch.setenv("MEMLANE_LLM", given)
    assert load_config().llm == url


@pytest.mark.parametrize(
    "given",
    ["http://10.0.0.7/v1", "http://0.0.0.0/v1", "http://127.0.0.1.example.org/v1",
     "http://localhost.example.org", "http://[::ffff:10.0.0.7]/v1", "http://127.1/v1"],
)  # fmt: skip
def test_another_host_must_stand_in_the_file(given: str, tmp_path: Path, monkeypatch):
    with pytest.raises(InvalidInput, match=r"is not this machine.*by hand: llm = "):
        load_config({"llm": given})
    with pytest.raises(InvalidInput, match="is not this machine"):
        set_in_file("llm", given)
    file = tmp_path / "config.toml"
    file.write_text(f'llm = "{given}"\n')
    config = load_config()
    assert config.llm.startswith(given.removesuffix("/v1"))
    assert config.reward_model == "qwen2.5-coder-1.5b", "rewards stay in process"
    monkeypatch.setenv("MEMLANE_LLM", given)
    with pytest.raises(InvalidInput, match="is not this machine"):
        load_config()


@pytest.mark.parametrize(
    "given",
    ["http://127.0.0.1@example.org/v1", "http://user:pass@127.0.0.1/v1", "ftp://127.0.0.1/v1",
     "http://127.0.0.1:99999/v1", "http://127.0.0.1:0/v1", "http://127.0.0.1/v1?x=y",
     "http://127.0.0.1/v1#@example.org", "http://127.0.0.1\\@example.org/v1", "http:///v1",
     "http://example\u2024org/v1", "http://127.0.0.1 /v1", "unix:///tmp/socket", "://"],
)  # fmt: skip
def test_what_is_no_address_is_refused(given: str):
    with pytest.raises(InvalidInput, match="is not the address of a model server"):
        parse_address(given)


def test_what_is_checked_is_what_is_connected_to():
    for given in ("http://127.0.0.1:8080/v1", "http://[::1]/v1", "https://localhost:1/a/b"):
        address = parse_address(given)
        assert httpx2.URL(address.url).host == address.host
        assert is_loopback(address.host)


def test_a_reward_model_is_never_a_server(monkeypatch):
    monkeypatch.setenv("MEMLANE_REWARD_LLM", "http://127.0.0.1:8080/v1")
    with pytest.raises(InvalidInput, match="cannot be a server"):
        load_config()


def test_the_doctor_tells_of_a_host_that_the_file_names(monkeypatch):
    from agent.session.doctor import _Failed, _NetworkWatch

    watch = _NetworkWatch("192.0.2.7")
    with socket.socket() as knocking:  # told as a connection would be, with none made
        sys.audit("socket.connect", knocking, ("192.0.2.7", 9))
        assert "192.0.2.7" in watch.report()
        sys.audit("socket.connect", knocking, ("192.0.2.8", 9))
    with pytest.raises(_Failed, match=r"connected to 192\.0\.2\.8\."):
        watch.report()
