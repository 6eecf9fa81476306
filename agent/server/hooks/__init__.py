"""Hooks of coding agents: memories for their sessions, without being asked for.

``tools`` knows the agents, ``settings_file`` puts the hooks into their settings and takes them out.
``recall`` is what a hook runs: the tool's message on standard input -> memories, fenced as data.
``review`` offers what was told in sessions that have ended (``ended``).
"""
