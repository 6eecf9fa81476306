"""Policies without training.

``simple`` (all, top-k, recency, random, partitioned), ``bm25``, ``fusion`` of words and meaning,
``query_decomposition`` over the graph, ``llm_and_oracle`` (a model picks; the answer key).
May import: ``policies.scoring``, the files of ``policies`` below ``registry``, ``store``.
"""
