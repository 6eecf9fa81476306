"""PURPLE: ordered sets of memories (docs/purple.md)."""
