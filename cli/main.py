"""Entry point of ``memlane``: forwards to the resident process or runs ``cli.app``.

``cli.forward`` forwards what it can before the parser is loaded, which takes longer than an answer.
"""

from __future__ import annotations

import gc
import sys

from cli.forward import relayed


def main() -> None:
    """The ``memlane`` command in this process."""
    try:
        code = relayed(sys.argv[1:])
    except KeyboardInterrupt:
        print("memlane: interrupted", file=sys.stderr)
        code = 130
    sys.exit(_here() if code is None else code)


def _here() -> int:
    """Work the command line out in this process."""
    # Collecting while a few thousand functions are imported takes a tenth of a short command's time
    # and frees nothing.
    gc.disable()
    from cli.app import run

    gc.enable()
    return run(sys.argv[1:])


if __name__ == "__main__":
    main()
