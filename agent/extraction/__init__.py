"""Raw text -> sentences -> drafts of memories (EMG-RAG 4.1). Nothing here reads the graph.

``extract`` reads messages in their ``own_words``, ``documents`` texts with a layout; ``triples``
and ``ratings`` read relations, ``subclass_classifier`` sets the subclass, ``validity`` the time,
``source_spans`` the place in the source; ``drafts`` joins them.
May import: ``models``, ``language`` and below.
"""
