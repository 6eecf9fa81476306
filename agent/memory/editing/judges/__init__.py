"""Learned judges: what a draft does to an older memory where exact comparison is silent.

``by_reader`` says what the statement reader takes a pair for, ``pair_judge`` classifies a pair by
``wording_features``. Weights: ``../data``, made by ``benchmarks.editing_train``.
"""
