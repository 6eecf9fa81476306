"""What several homes of one person tell each other (docs/sync.md), without files and keys.

``operations`` are the frozen values, ``fold`` decides what holds of them, ``tables`` keeps them
beside the memories, ``forgetting`` keeps forgotten texts out of them.
May import: the files of ``store`` below ``graph``, ``tables``.
"""
