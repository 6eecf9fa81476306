"""Commands about ratings, persona lines and training."""
