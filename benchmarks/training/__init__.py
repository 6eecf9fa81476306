"""Makes the weights that memlane ships, from texts of our own; measures nothing."""
