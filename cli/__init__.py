"""The terminal.

``main`` forwards a command to the resident process (``forward``; ``forwarded`` is its other end) or
runs ``app``, the root of all commands. ``context`` has the options and the session of one command,
``exit_codes`` its errors. Folders: ``commands``, ``input``, ``output``.
May import: everything, late, as ``--help`` loads nothing heavy (``tests/test_architecture.py``).
"""

import time

BEGAN = time.monotonic()
"""When this process began to load the command."""
