"""What ratings are good for (MAP 4.1 to 4.4; docs/ratings.md).

``rate`` stores one by hand, ``predict`` predicts one with ``similarity`` and ``calibration``,
``recommend`` answers requests for a recommendation. Ratings in text are read in
``agent.extraction.ratings`` and stored by ``agent.memory.ratings``.
"""
