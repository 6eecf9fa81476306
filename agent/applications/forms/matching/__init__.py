"""What each field of a form asks for: a key of the vocabulary, or a free question.

``match`` is the way in; ``label_words`` reads labels, ``neighbours`` the fields beside one,
``cross_field`` all fields of a form; ``vocabulary`` is read from ``keys.toml``.
"""
