"""OpenAI client: a chat model behind a compatible server.

Only completes: entropy, likelihood and choice need whole distributions, which no such server
gives. What is sent goes to the one address that the configuration names: no redirect is followed
and no proxy of the environment is used.

Answers are streamed, so that a server stops computing when the caller goes away.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import Any, Self

import httpx2 as httpx

from agent.config import DEFAULT_LLM
from agent.errors import PromptTooLong, ServerUnavailable
from agent.language.injection import inert
from agent.ports import ChatTurn

CONNECT_SECONDS = 5.0
SILENT_SECONDS = 300.0
"""How long a server may say nothing: a slow machine reads a long prompt for minutes."""
_OTHERWISE = f"or run a model in this process: memlane config set llm {DEFAULT_LLM}"
_PROBE = 'root ::= "7"'


class ServerModel:
    """Fulfils ``agent.ports.LanguageModel``. Connects at the first call. Callers take turns.

    ``url`` ends where ``/chat/completions`` follows; whether it may be used at all is settled by
    ``agent.config``. ``model`` is one of those the server lists; without it the first is taken.
    """

    def __init__(
        self, url: str, *, model: str = "", silent_seconds: float = SILENT_SECONDS
    ) -> None:
        self.url = url
        self._wanted = model
        self._client = httpx.Client(
            base_url=url,
            timeout=httpx.Timeout(silent_seconds, connect=CONNECT_SECONDS),
            # Where a stream failed, the server closes the connection under the next request.
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,
            follow_redirects=False,
        )
        self._lock = threading.RLock()

    @property
    def identity(self) -> str:
        """Address and model, for records.

        :raises ServerUnavailable: if the server does not answer.
        """
        return f"{self.url}#{self.model}"

    @cached_property
    def model(self) -> str:
        """What the server calls the model that answers.

        :raises ServerUnavailable: if it does not answer, or has not what was asked for.
        """
        with self._named():
            response = self._client.get("models")
            if response.status_code == httpx.codes.NOT_FOUND and self._wanted:
                return self._wanted  # a server that keeps no list
            self._check(response)
            listed = [_text(entry, "id") for entry in _list(_parsed(response.text), "data")]
        if self._wanted and self._wanted not in listed:
            raise ServerUnavailable(
                f"{self.url} has no model {self._wanted!r}, but {', '.join(listed) or 'none'}. "
                "Choose: memlane config set server_model NAME"
            )
        if not listed:
            raise ServerUnavailable(f"{self.url} has no model loaded. Load one, {_OTHERWISE}")
        return self._wanted or listed[0]

    def chat(
        self,
        turns: Sequence[ChatTurn],
        *,
        max_tokens: int,
        grammar: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
        on_scores: Callable[[Sequence[float]], None] | None = None,
    ) -> str:
        """Complete the chat; see ``LanguageModel.chat``. ``on_scores`` is never called.

        Some servers cut the answer, without saying so, where their context ends.

        :raises ServerUnavailable: if the server is away, refuses, or speaks otherwise.
        :raises PromptTooLong: if the server says so.
        """
        if grammar is not None and not self._knows_grammars:
            raise ServerUnavailable(
                f"{self.url} does not support grammars. Use llama.cpp's own server, {_OTHERWISE}"
            )
        asked: dict[str, object] = {
            "model": self.model,
            "messages": [{"role": turn.role, "content": _content(turn)} for turn in turns],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
        }
        if temperature > 0:
            asked["top_p"] = 1.0
        if stop:
            asked["stop"] = list(stop)
        if grammar is not None:
            asked["grammar"] = grammar
        return self._complete(asked, on_text)

    def close(self) -> None:
        """Close the connections. Closing twice is fine."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def _knows_grammars(self) -> bool:
        """Whether it keeps to a grammar. Servers that know none mostly ignore the field."""
        asked = {
            "model": self.model,
            "messages": [{"role": "user", "content": "Say hello."}],
            "max_tokens": 4,
            "grammar": _PROBE,
        }
        try:
            return self._complete(asked, None).strip() == "7"
        except _Refused:
            return False

    def _complete(self, asked: Mapping[str, object], on_text: Callable[[str], None] | None) -> str:
        said: list[str] = []
        try:
            # Closed at once when the caller is interrupted, so that the server hears of it. One at
            # a time, because llama-cpp-python's server drops an answer when it is asked again.
            with self._lock, self._named(), closing(self._stream(asked)) as pieces:
                for piece in pieces:
                    said.append(piece)
                    if on_text:
                        on_text(piece)
        except _BrokeOff:
            # Trigger: the stream broke off, and nobody has seen a word of it yet.
            # Why: the server of llama-cpp-python can report no error once a stream has begun, not
            # even that a prompt is too long, and stops short for another client.
            # Outcome: the same question without a stream says what was wrong, or the answer.
            if said and on_text:
                raise
            with self._lock, self._named():
                said = [self._whole(asked)]
            if on_text:
                on_text(said[0])
        return "".join(said)

    def _stream(self, asked: Mapping[str, object]) -> Generator[str, None, None]:
        """The answer in pieces, up to its end.

        :raises _BrokeOff: if the stream ends before the answer does.
        """
        with self._client.sse(
            "chat/completions", method="POST", json={**asked, "stream": True}
        ) as events:
            self._check(events.response)
            for event in events:
                if event.data == "[DONE]":
                    break  # without a reason to end: the server was interrupted
                chunk = _parsed(event.data)
                if isinstance(chunk, dict) and chunk.get("error"):
                    self._refuse(events.response.status_code, chunk)
                ended = False
                for choice in _list(chunk, "choices"):
                    delta = choice.get("delta")
                    if isinstance(delta, dict) and delta.get("content"):
                        yield _text(delta, "content")
                    ended = ended or bool(choice.get("finish_reason"))
                if ended:
                    return
        raise _BrokeOff(self.url)

    def _whole(self, asked: Mapping[str, object]) -> str:
        response = self._client.post("chat/completions", json={**asked, "stream": False})
        self._check(response)
        choices = _list(_parsed(response.text), "choices")
        message = choices[0].get("message") if choices else None
        if not isinstance(message, dict):
            raise _Garbled
        return _text(message, "content") if message.get("content") else ""

    def _check(self, response: httpx.Response) -> None:
        """:raises ServerUnavailable: if the response is not the one asked for."""
        if response.is_success:
            return
        if response.is_redirect:
            raise ServerUnavailable(
                f"{self.url} redirects to {response.headers.get('location', 'elsewhere')!r}, and "
                "memlane follows no redirects. If that address is right, set it as llm."
            )
        response.read()
        try:
            said = _parsed(response.text)
        except _Garbled:
            said = None
        self._refuse(response.status_code, said)

    def _refuse(self, status: int, said: object) -> None:
        """:raises ServerUnavailable: always, or PromptTooLong where that is what was said."""
        error = said.get("error", said.get("detail", "")) if isinstance(said, dict) else ""
        details = error if isinstance(error, dict) else {"message": error}
        message = " ".join(str(details.get("message") or "no reason given").split())[:300]
        kinds = {str(details.get("type")), str(details.get("code"))}
        if kinds & {"exceed_context_size_error", "context_length_exceeded"}:
            raise PromptTooLong(f"{self.url} says: {message} Shorten the text.")
        if status in (401, 403):
            raise ServerUnavailable(
                f"{self.url} requires a key, and memlane sends none. Start it without a key, "
                f"{_OTHERWISE}"
            )
        if status == httpx.codes.NOT_FOUND:
            raise ServerUnavailable(
                f"{self.url} has no chat endpoint (404: {message}). Does its address end in /v1? "
                f"Correct it, {_OTHERWISE}"
            )
        raise _Refused(f"{self.url} refused ({status}): {message} See its log, {_OTHERWISE}")

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Turn what goes wrong on the way into one line with its remedy."""
        try:
            yield
        except httpx.ConnectError as error:
            raise ServerUnavailable(
                f"No model server answers at {self.url}. Start it, {_OTHERWISE}"
            ) from error
        except httpx.TimeoutException as error:
            raise ServerUnavailable(
                f"The model server at {self.url} did not answer in time. See its log, or restart "
                f"it, {_OTHERWISE}"
            ) from error
        except (_Garbled, httpx.SSEError, httpx.DecodingError) as error:
            raise ServerUnavailable(
                f"The server at {self.url} is not an OpenAI-compatible model server. Correct the "
                f"address, {_OTHERWISE}"
            ) from error
        except httpx.HTTPError as error:
            raise _BrokeOff(self.url) from error


class _Refused(ServerUnavailable):
    """The server understood and said no."""


class _BrokeOff(ServerUnavailable):
    """The connection ended in the middle of an answer."""

    def __init__(self, url: str) -> None:
        super().__init__(
            f"The model server at {url} closed the connection too early. See its log and try "
            "again, "
            f"{_OTHERWISE}"
        )


class _Garbled(Exception):
    """An answer that does not follow the protocol."""


def _content(turn: ChatTurn) -> str:
    # The server puts a turn into its template as it stands, control tokens and all.
    return inert(turn.content.encode("utf-8", "replace").decode("utf-8"))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _Garbled from error


def _list(document: object, key: str) -> list[dict[str, Any]]:
    """The list of objects under ``key``."""
    found = document.get(key) if isinstance(document, dict) else None
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise _Garbled
    return found


def _text(entry: Mapping[str, object], key: str) -> str:
    found = entry.get(key)
    if not isinstance(found, str):
        raise _Garbled
    return found
