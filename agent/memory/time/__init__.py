"""What held when (docs/time.md).

``timeline`` has the periods of memories and which of them hold at a moment, ``history`` the life of
each fact, from telling to undo, ``changed`` what may have taken the place of what, ``decay`` what
has faded.
May import: ``extraction`` and below.
"""
