"""The memories of one home, and everything that changes them.

``home`` is what all functions take (settings, graph, models); ``remember`` stores a source;
``editing`` plans what a draft does to older memories; ``entities`` says who is who; ``timeline``
and ``history`` say what held when; ``trust`` and ``contradictions`` limit what may replace what.
May import: ``extraction``, ``models``, ``language`` and below.
"""
