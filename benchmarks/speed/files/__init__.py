"""Notes and documents read."""
