"""Commands about models, settings and the state of the home."""
