"""Processes that others talk to. May import everything in ``agent``.

``resident`` is the process that owns the models of a home, ``web`` the page of ``memlane web``,
``mcp`` memory for other programs; ``serve`` puts the resident process together with the page.
"""
