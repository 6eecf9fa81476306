"""What is remembered: one SQLite file, and the indexes computed from it. No model and no prompt.

``graph`` is the way in (``MemoryGraph``: open, apply edits, undo, view, verify); ``types`` and
``errors`` are the words of all packages; ``database`` is the file, ``tables`` what is in it,
``journal`` the edits, ``derived`` what is computed; ``erasure`` forgets, ``maintenance`` copies and
saves, ``sync`` is for homes on several machines. May import: nothing of the other
packages.
"""
