"""The memories of one home, and everything that changes them.

``home`` is what all functions take (settings, graph, models); ``remember`` stores a source;
``editing`` plans what a draft does to older memories; ``entities`` says who is who; ``time`` what
held when; ``uncertain`` what may replace what, and what is asked; ``vectors`` embeds memories.
May import: ``extraction``, ``models``, ``language`` and below.
"""
