"""Makes the weights of the form reader."""
