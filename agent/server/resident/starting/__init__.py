"""How the resident process comes to run, and to end by itself.

``leave_behind`` starts it after a command, ``autostart`` with the machine, ``until_idle`` ends it
when nobody needs it.
May import: ``resident.paths``, ``resident.client``, the files at the root of ``agent``.
"""
