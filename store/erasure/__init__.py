"""Erasure for good (docs/forgetting.md), and its proof.

``plan`` says what goes, ``run`` does it in one transaction, ``learned`` what was trained on it,
``secure_delete`` the bytes on disk; ``fingerprints`` finds erased text without keeping it.
May import: the files of ``store`` below ``graph``, ``tables``.
"""
