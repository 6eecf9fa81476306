"""The page of ``memlane web``: served by the resident process, to one user's browser.

``access`` says who may come in, ``listener`` opens and closes the port, ``requests`` is what the
page may ask and gets, ``views`` and ``edits`` read and change the graph for it, ``app`` puts it
together, ``static`` is the page itself: plain HTML, CSS and JavaScript. docs/web.md tells it whole.
"""
