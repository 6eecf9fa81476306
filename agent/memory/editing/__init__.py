"""Drafts and the memories near them -> planned edits (EMG-RAG 4.2). Pure: writes nothing.

``plan`` is the way in: ``candidates`` finds old memories, ``compare`` compares exactly,
``changes`` reads single kinds of change by rule, ``judges`` are learned and decide the rest,
``decision`` turns verdicts into edits, ``replacing`` lets only sure replacements pass, and
``conflicts`` are put to the user. ``corrections`` and ``expiry`` handle "no, the 4th" and "until
May".
"""
