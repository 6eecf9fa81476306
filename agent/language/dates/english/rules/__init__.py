"""The tables of rules of the date grammar, one module a subject; ``common`` is what they share.

Applied in the order that ``parser`` gives: numbers first, ranges last.
"""
