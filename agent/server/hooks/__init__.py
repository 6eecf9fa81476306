"""Hooks of coding agents: a few memories beside each prompt, without being asked for.

``settings_file`` puts the hook into a tool's settings and takes it out; ``recall`` is what the hook
runs: the tool's message on standard input -> memories, fenced as data.
"""
