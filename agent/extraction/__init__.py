"""Raw text -> sentences -> drafts of memories (EMG-RAG 4.1). Nothing here reads the graph.

``extract`` is the way in; ``own_words`` makes memories of messages, ``documents`` reads texts with
a layout, ``triples`` and ``ratings`` read relations, ``subclass_classifier`` sets the
subclass, ``validity`` the time, ``source_spans`` the place in the source; ``drafts`` joins them.
May import: ``models``, ``language`` and below.
"""
