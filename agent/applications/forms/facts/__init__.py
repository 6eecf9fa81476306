"""Memories -> facts for forms (whose phone number, whose birthday), by patterns.

``read`` is the way in; ``attribute_patterns`` are for "my X is Y", ``verb_patterns`` for the rest.
``outlived`` tells which of them another one has taken the place of.
"""
