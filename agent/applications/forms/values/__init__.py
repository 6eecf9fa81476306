"""Values as a field wants them: ``fit`` for dates, options and numbers; ``phones``;

``postal_addresses`` for parts of names and addresses (``places.toml``); ``constraints`` for length
and pattern of a field.
"""
