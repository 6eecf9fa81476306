"""Makes the weights of the policies, and the worlds that they learn from."""
