"""What is computed from the tables and can be computed again; never on disk.

``view`` is the snapshot that a policy gets, ``cache`` keeps what is read off memories from view to
view, ``vector_index`` keeps vectors in step with the journal, in the ``partitions`` of subclasses.
May import: the files of ``store`` below ``graph``, ``tables``.
"""
