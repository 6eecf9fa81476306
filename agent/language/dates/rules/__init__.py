"""The tables of rules of the date grammar, one module a subject; ``common`` is what they share.

Applied in the order that ``agent.language.dates.grammar`` gives: numbers first, ranges last.
"""
