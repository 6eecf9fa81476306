"""The two services of EMG-RAG (section 4.4): reminders of what comes, and the way to a place.

``occasions`` reads what a memory gives occasion for, ``repeating`` what comes back, ``reminders``
finds what is coming, ``ics`` writes it as a calendar, ``desktop`` shows it; ``places`` reads where
somebody or something is, ``travel`` finds the address of a destination. No model is used: a service
states what a memory says, or nothing.
"""
