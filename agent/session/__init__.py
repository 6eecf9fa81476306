"""One request from start to end: the composition root.

``session`` holds the graph, the models and the clock of a home; ``respond`` says what answers a
question, ``reply`` what is told of it and kept, ``doctor`` is status and self-check. May import:
everything but ``learning`` and ``server``.
"""
