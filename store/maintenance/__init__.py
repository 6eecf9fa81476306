"""Whole homes and many edits at once: backup, rebuild, batch undo."""
