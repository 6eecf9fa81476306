"""The resident process: one owner of the models for a home, spoken to over HTTP on a Unix socket.

``client`` is what a command holds (nothing heavy imported), ``paths`` says where the process's
files lie, ``requests`` what may be asked, as ``agent.codec`` carries it;
``service`` does it in threads (``workers``) with ``shared_models``, ``http_app`` serves it on
``sockets``; ``background`` has the jobs that nobody asked for; ``starting`` is how it comes to run
and to end. The process itself is ``agent.server.serve``. docs/resident.md tells it whole.
"""
