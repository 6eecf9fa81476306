"""Commands that the resident process runs, as it has everything loaded.

``forward`` sends a command line there; ``forwarded`` runs it at the other end.
May import: ``cli.arguments``, ``cli.context``, ``cli.exit_codes``; ``forward`` next to nothing, as
every command waits for it.
"""
