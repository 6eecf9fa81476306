"""What commands ask for.

``line_input`` reads a line of chat, ``confirm`` a yes or no, ``editor_process`` a text from the
user's editor.
May import: ``cli.context``, ``store``.
"""
