"""What is computed from the tables and can be computed again.

``view`` is the snapshot that a policy gets, ``cache`` keeps what is read off memories from view to
view, ``vector_index`` keeps vectors in step with the journal, in the ``partitions`` of subclasses;
``large`` keeps the arrays of a large home on disk, in its cache folder.
May import: the files of ``store`` below ``graph``, ``tables``.
"""
