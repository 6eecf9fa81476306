"""The SQLite file: how it is opened, locked, upgraded and written.

``connection`` is the way in, ``driver`` the library behind it, ``migrations`` the versions of the
schema, ``write_ahead_log`` keeps the log short, ``file_locks`` locks between processes, ``notices``
tells whoever is waiting, ``encryption`` keeps the key.
"""
