"""Which memories to use for a question. Arrays and a view of the graph; never a language model.

``base`` is the protocol, ``selection`` the result, ``registry`` knows every policy by its name;
``abstain`` says how likely memory holds the answer. ``scoring`` is what they score by; the policies
are in ``baselines``, ``walk``, ``rums`` and ``purple``; ``training`` is how the walks learn.
May import: ``store``.
"""
