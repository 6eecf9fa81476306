"""Tables of memories, sources and turns, vectors, and the taxonomy.

``memory_tables`` has them all on one connection, ``taxonomy_edits`` changes subclasses by hand,
``paging`` reads the graph a page at a time, ``verify`` compares rows with the journal.
May import: the files of ``store`` below ``graph``.
"""
