"""In and out: everything that is stored as text, text of memlane and of others taken in, backups.

``exporting`` writes and ``importing`` reads; between them go ``Record``s (``records``), which
``plain`` turns into JSON and back field by field, so that a new field of a value travels by itself.
"""
