"""memlane for other programs: a Model Context Protocol server on standard input and output.

``permissions`` says what which program may do, ``fence`` how memories are handed to it as data,
``memory`` does it beside the resident process, ``confirming`` asks the person before something
changes, ``server`` speaks the protocol (the only importer of its SDK). All of it: docs/agents.md.
"""
