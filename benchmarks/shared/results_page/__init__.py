"""docs/results.md: what is claimed, and the page made of the result files."""
