"""The commands, in folders by what they are about; ``cli.app`` registers them.

``conversation``, ``files``, ``learning``, ``memories``, ``processes``; ``admin`` (models, config,
doctor), ``services`` (reminders, travel), ``guide`` (help, completion).
May import: ``cli.input``, ``cli.output``, ``cli.context``, and ``agent`` in functions.
"""
