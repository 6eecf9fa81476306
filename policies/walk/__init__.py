"""Walks over the graph (docs/selection.md).

``walk`` is that of EMG-RAG, ``scout`` ours, with its candidates in ``scout_state``.
May import: ``policies.baselines``, ``policies.scoring``, the files of ``policies``, ``store``.
"""
