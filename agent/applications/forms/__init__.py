"""Filling forms from memory (docs/autofill.md). ``autofill`` is the way in.

``formats`` reads a form and writes the page, ``matching`` says what each field asks for,
``facts`` what memories state, ``candidates`` which of it a field may get, ``values`` writes it as
the field wants, ``free_questions`` are fields in their own words, ``sensitive`` needs consent.
"""
