"""What policies score by.

``tokenize`` and ``question_entities`` read words, ``memory_flags`` signs of a memory, ``ranking``
and ``pca_search`` cosines; ``features`` are those of the abstention judge.
May import: ``policies.base``, ``policies.selection``, ``store``.
"""
