"""What is learned to read from states: statements, pairs, notes, forms.

``local_statement_reader`` and ``form_reader`` read states of the sentence encoder,
``second_reader`` (pairs) and ``note_reader`` those of the language model; ``data`` has the weights.
"""
