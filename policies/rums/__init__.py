"""RUMS (docs/rums.md).

``utility`` is what a subset of memories is worth, and the search for the best; ``selectors`` are
the policies trained on it.
May import: ``policies.baselines``, ``policies.scoring``, the files of ``policies`` below
``registry``, ``store``.
"""
