"""English glosses: what a passage in another language says, for the statement reader.

The reader learned from English alone. The language model translates each message once, when it is
told; the gloss is kept in the home's cache, which forgetting empties. No person is ever shown one.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from agent.language.identify import is_english
from agent.language.injection import as_data
from agent.memory.passages import Passage
from agent.models.fixed_turns import fixed
from agent.ports import ChatTurn, LanguageModel
from store.database.connection import DATABASE_NAME
from store.database.encryption.sealed import sealer_of
from store.erasure.secure_delete import CACHE_FOLDER
from store.errors import MemlaneError

MAX_TOKENS = 120
LONGEST = 400
"""Characters of a text; a longer one gets no gloss."""
_BEGIN = fixed(
    "Translate the message into English. Write only the translation.",
    (
        (
            "Meine Tante hat den Hund gestern zum Tierarzt gebracht.",
            "My aunt took the dog to the vet yesterday.",
        ),
        ("¿A qué hora sale el tren de mi padre?", "What time does my father's train leave?"),
        (
            "我把旧手机卖给了同事，新的明天到。",
            "I sold my old phone to a colleague, the new one arrives tomorrow.",
        ),
    ),
)


def in_english(passage: Passage, glosses: Glosses) -> str | None:
    """How the reader reads a passage: as it stands, or its gloss; None where there is none."""
    return passage.read if is_english(passage.text) else glosses.known(passage.text)


class Glosses:
    """The glosses of one home: ``cache/glosses`` holds a file for each text.

    In an encrypted home the files are sealed with its key.
    """

    def __init__(self, home: Path, llm: LanguageModel) -> None:
        self._folder = home / CACHE_FOLDER / "glosses"
        self._llm = llm
        self._sealer = sealer_of(home / DATABASE_NAME)

    def known(self, text: str) -> str | None:
        """The gloss of a text that is not in English, if it was made."""
        with suppress(OSError):
            return self._read(text)
        return None

    def make(self, text: str) -> str | None:
        """The text, which is not in English, in English; None where no model can say it."""
        with suppress(OSError):
            return self._read(text)
        if len(text) > LONGEST:
            return None
        try:
            asked = ChatTurn("user", as_data(text))
            made = self._llm.chat((*_BEGIN, asked), max_tokens=MAX_TOKENS).strip()
        except MemlaneError:
            return None
        with suppress(OSError):  # a gloss that cannot be kept is made again
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = self._file(text)
            file.touch(mode=0o600)
            file.write_bytes(self._sealer.seal(made) if self._sealer else made.encode())
        return made

    def _read(self, text: str) -> str:
        """:raises OSError: if there is none."""
        data = self._file(text).read_bytes()
        return self._sealer.open(data) if self._sealer else data.decode()

    def _file(self, text: str) -> Path:
        if self._sealer:
            return self._folder / self._sealer.name(text)
        return self._folder / hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
