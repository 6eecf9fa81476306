"""Sentence -> relations (head, relation, tail): ``read`` runs the ``patterns``, then the model.

``employment`` tells "joined Bolt" from "joined a choir". The names that relations share are
``agent.language.relation_names``.
"""
