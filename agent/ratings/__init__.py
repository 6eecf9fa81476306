"""Rated things as typed memories, and what they are good for (MAP 4.1 to 4.4; docs/ratings.md).

``items`` says what a rated thing is and how it hangs in the graph, ``reading`` reads ratings out of
sentences, ``storing`` plans and applies them, ``nearest`` finds the ratings that tell most of an
item, ``predicting`` guesses a rating, ``recommending`` answers requests for a recommendation.
"""
