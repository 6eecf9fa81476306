"""The two services of EMG-RAG (section 4.4): reminders of what comes, and the way to a place.

``upcoming`` reads the dates of a memory, ``recurrence`` what repeats, ``reminders`` finds what is
coming, ``ical_export`` writes it as a calendar, ``desktop_notifications`` shows it; ``places``
reads where something is, ``travel`` finds the address of a destination. No model is used: a
service states what a memory says, or nothing.
"""
