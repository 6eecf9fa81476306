"""Question sets in one shape, policies that answer them, and what an answer is worth."""
