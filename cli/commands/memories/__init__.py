"""Commands on the memory graph: memories, entities, types."""
