"""RUMS: utility of memories by entropy, and what selects by it (docs/rums.md)."""
