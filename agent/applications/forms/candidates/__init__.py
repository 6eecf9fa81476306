"""Values that memories have for a field.

``from_facts`` by what they state, ``by_meaning`` and ``by_model`` by what they mean. For the model
``field_notes`` reads which memories a field is about and ``copying`` copies from them, by the
prompts of ``copy_prompts``. ``outdated`` looks for newer ones, ``written`` writes them as the field
wants.
"""
