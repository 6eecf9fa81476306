"""What is remembered: one SQLite file, and the indexes computed from it. No model and no prompt.

``graph`` is the way in (``MemoryGraph``: open, apply edits, undo, view, verify); ``types`` and
``errors`` are the words of all packages; ``connection``, ``migrations``, ``journal`` and
``row_codecs`` are SQLite; ``notices`` tells whoever is waiting. Folders: ``tables``,
``side_tables``, ``derived``, ``erasure``, ``maintenance``. May import: nothing of the other
packages.
"""
