"""The grammar of English time expressions: words, tokens, rules, and the cascade that applies them.

May import ``agent.language.dates.values``.
"""
