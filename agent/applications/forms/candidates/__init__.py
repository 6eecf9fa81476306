"""Values that memories have for a field.

``from_facts`` by what they state, ``by_meaning`` and ``by_model`` by what they mean, ``outdated``
looks for newer ones, ``written`` writes them as the field wants.
"""
