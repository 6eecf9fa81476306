"""Answers that code computes because they are times.

``agenda`` lists what falls on the days that a question asks for; ``shifts`` adds "an hour later" to
the time it is said of.
May import: ``answering.question``, ``memory`` and below.
"""
