"""Export, import and backup of everything that is stored.

``export`` writes and ``import_`` reads (``merge`` into a home, ``rebuild`` an empty one); between
them go ``Record``s (``records``, checked by ``validate``), which ``agent.codec`` turns into JSON
and back. ``read`` tells what a file is, ``formats`` are files of others, ``spool`` keeps what a
large import has to know, ``report`` what became of it, ``backup`` copies a whole home.
"""
