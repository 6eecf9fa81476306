"""Whole homes, and many edits at once.

``backup`` copies a home at one moment and puts it back; ``batch_undo`` undoes the edits of a run.
May import: all of ``store``.
"""
