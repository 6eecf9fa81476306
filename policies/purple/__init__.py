"""``purple``: a bandit over ordered sets of memories (docs/purple.md)."""
