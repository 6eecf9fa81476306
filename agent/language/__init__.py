"""Rules for text: no model, no database. New patterns for English belong here or in ``extraction``.

``dates`` finds and resolves time expressions, ``redaction`` finds secrets, ``injection`` finds
orders to an assistant. ``sentences`` splits and sorts sentences; ``mentions`` finds
what a text refers to, ``clauses`` what it joins; ``relation_names`` is shared vocabulary.
May import: the files at the root of ``agent``, ``policies``, ``store``.
"""
