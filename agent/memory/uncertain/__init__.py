"""What is not certain, and what is asked about it (docs/trust.md).

``trust`` says what may replace what, ``contradictions`` which memories do not go together,
``pending_questions`` what the user is asked, and when.
May import: ``memory.entities``, ``memory.editing.conflicts``, ``extraction`` and below.
"""
