"""What a person's own machine learns from: episodes, rewards, training, weights (EMG-RAG 4.1, 4.3).

``associations`` and ``writing`` make question-answer pairs of the person's memories, ``episodes``
makes pairs into what training takes, ``rewards`` says what a selection is worth, ``training`` runs
and keeps or drops new weights, ``feedback`` learns from judged answers, ``weights`` hands the
networks to whoever builds a policy.
"""
