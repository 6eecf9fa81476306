"""Makes the weights of the statement reader, and the examples that it learns from."""
