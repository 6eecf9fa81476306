"""What is learned of time expressions: past or ahead, one day or none.

May import ``agent.language.dates.english`` and ``values``.
"""
