"""What is computed from the tables and can be computed again: views, cache, indexes."""
