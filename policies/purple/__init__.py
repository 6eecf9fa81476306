"""PURPLE (docs/purple.md): a bandit over ordered sets of memories.

``purple`` is the policy, ``purple_encoder`` its network, ``plackett_luce`` the distribution over
orders, ``purple_training`` the learning.
May import: ``policies.baselines``, ``policies.scoring``, the files of ``policies``, ``store``.
"""
