"""The vectors of memories and what depends on them.

``waiting`` makes them, ``encoder_move`` makes them anew with another encoder, ``reclassify`` places
memories by them in a changed taxonomy.
"""
