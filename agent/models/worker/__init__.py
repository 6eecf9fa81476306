"""Models in processes of their own, so that native code cannot take memlane down.

``client`` is what the rest of memlane uses: a language model, a reward model and a text reader
that live in a worker. ``process`` starts one and talks to it, ``wire`` is the format of what they
say, ``settings`` and ``trial`` find what a model runs with on this machine. ``serve`` and
``served`` run inside the worker; only they import the adapters.
"""
