"""What policies score by.

``question_entities`` reads words, ``memory_flags`` signs of a memory, ``ranking``
and ``pca_search`` cosines; ``features`` are those of the abstention judge.
May import: ``policies.base``, ``policies.selection``, ``store``.
"""
