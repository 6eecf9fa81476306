"""Answers from notes: what the person said, dated, with what may have changed it.

``candidates`` are passages that a question may need, ``gather`` reads them and chooses the notes,
``prompt`` asks the model, ``answer`` checks what it says and shows it with the words it rests on
(``quotations``). Times are computed: ``shifts`` ("an hour later"), ``times``.
May import: ``answering.question``, ``retrieve``, ``memory`` and below.
"""
