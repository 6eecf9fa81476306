"""Learned judges: what a draft does to an older memory where exact comparison is silent.

``pair_judge`` classifies a pair by ``wording_features``. Weights: ``../data``, made by
``benchmarks.editing_train``.
"""
