"""memlane for other programs: a Model Context Protocol server on standard input and output.

``permissions`` says what which program may do, ``fence`` puts delimiters around memories, which
are data; ``memory`` does the work beside the resident process, ``confirming`` asks the user before
something changes, ``server`` speaks the protocol (the only importer of its SDK). docs/agents.md.
"""
