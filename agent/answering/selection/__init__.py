"""Policies made ready for a home: ``policy_factory`` with the user's weights and prompts.

``policy_weights`` reads and writes those weights, ``utility`` is the worth of subsets of memories
by the local model (RUMS). The policies themselves are in ``policies/``.
"""
