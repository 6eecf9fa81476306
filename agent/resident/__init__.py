"""The resident process: one owner of the models for a home, spoken to over HTTP on a Unix socket.

``place`` says where its files lie, ``codec`` is the one way values cross the wire, ``client`` is
what a command holds (nothing heavy imported), ``calls`` what may be asked, ``lanes`` and ``desk``
do it, ``app`` serves it, ``server`` is the process. docs/resident.md tells it whole.
"""
