"""Ratings in sentences: ``items`` are rated things as values, ``parse`` reads them out of text,

``relations`` gives the relations of any memory, rating or not. How ratings are stored is
``agent.memory.ratings``, what they are used for ``agent.applications.ratings``.
"""
