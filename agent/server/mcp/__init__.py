"""memlane for other programs: a Model Context Protocol server on standard input and output.

``permissions`` says what which program may do, ``fence`` puts delimiters around memories, which
are data; ``memory`` does the work beside the resident process, ``confirming`` asks the user before
something changes, ``shapes`` says what tools answer with; ``server`` and ``protocol`` speak the
protocol (the only importers of its SDK). docs/agents.md.
"""
