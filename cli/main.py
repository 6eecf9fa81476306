"""Entry point of ``memlane``: forwards to the resident process or runs ``cli.app``.

``cli.forwarding.forward`` forwards what it can before the parser is loaded, which takes longer than
an answer.
"""

from __future__ import annotations

import sys

from cli.forwarding.hooked import hooked


def main() -> None:
    """The ``memlane`` command in this process."""
    try:
        code = hooked(sys.argv[1:])
        if code is None:  # a hook loads no more than it needs: an agent waits at each prompt
            from cli.forwarding.forward import relayed

            code = relayed(sys.argv[1:])
    except KeyboardInterrupt:
        print("memlane: interrupted", file=sys.stderr)
        code = 130
    sys.exit(_here() if code is None else code)


def _here() -> int:
    """Work the command line out in this process."""
    from cli.importing import collecting_paused

    with collecting_paused():
        from cli.app import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    main()
