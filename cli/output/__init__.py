"""What commands print.

``render`` is text for people, ``json_output`` the documents of ``--json``, ``streaming`` an answer
as it comes, ``progress`` a bar; ``graph_layout`` places the entities of a picture, which ``svg``
draws.
May import: ``agent`` and ``policies.selection`` in functions, ``store``.
"""
