"""Who is who and what is one event (docs/entities.md). Nothing is stored: all is read off memories.

``identity`` joins names of one entity by ``statements`` and ``names``; ``aliases`` rewords texts;
``events`` joins memories of one event by ``event_features``; ``suggestions`` and ``merge_split``
are for what only the user can decide; ``relation_graph`` has paths between entities.
"""
