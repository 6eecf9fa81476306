"""What is searched in a large home, kept as arrays on disk.

``arrays`` are the files, ``build`` makes them, ``search`` looks into them; ``index`` keeps them in
step with the journal, and ``part`` gives a question the part of the home that matters to it.
"""
