"""Kinds of change that are read by rule, each in a module.

``reschedule`` (an event gets another time), ``named_value`` ("my gym is Fit24 now"), ``roles`` (a
new boss), ``upcoming`` (which of several events a message without a day is about).
"""
