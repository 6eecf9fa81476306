"""Lives written from a seed: what is told when, and the answer valid at each moment."""
