"""One request from start to end: the composition root.

``session`` holds the graph and the clock of a home, ``home_models`` the models that it loads;
``respond`` says what answers a question, ``reply`` what is told of it and kept, ``private``
answers and keeps nothing, ``doctor`` is status and self-check. May import: everything but
``learning`` and ``server``.
"""
