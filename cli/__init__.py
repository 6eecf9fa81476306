"""The ``memlane`` command."""

import time

BEGAN = time.monotonic()
"""When this process began to load the command."""
