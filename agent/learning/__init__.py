"""Training on the user's own memories: episodes, rewards, weights (EMG-RAG 4.1, 4.3).

``associations`` and ``qa_generation`` make question-answer pairs, ``episodes`` makes them into what
training takes, ``rewards`` says what a selection is worth, ``training`` runs, ``train_home`` and
``many_homes`` are whole runs, ``feedback`` learns from judged answers. See docs/learning.md.
May import: everything but ``server``.
"""
