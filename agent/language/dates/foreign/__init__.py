"""Dates of other languages, put into English words for the grammar.

May import ``agent.language.dates.english`` and ``agent.language.identify``.
"""
