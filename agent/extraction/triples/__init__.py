"""Sentence -> relations (head, relation, tail): ``read`` runs the ``patterns``, then the model.

``employment`` tells "joined Bolt" from "joined a choir"; ``pattern_kinds`` are the kinds of words
that patterns are made of. The names that relations share are ``agent.language.relation_names``.
"""
