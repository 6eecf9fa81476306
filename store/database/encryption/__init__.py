"""Encryption of a home: the file that holds its wrapped key, and the keys of this process.

``envelope`` reads and writes ``encryption.json``; ``keys`` finds the key of a home; ``sealed``
encrypts small files beside the database. The database itself is SQLCipher's (``database.driver``).
May import: ``store.errors``.
"""
