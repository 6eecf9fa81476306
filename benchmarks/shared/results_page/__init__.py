"""docs/results.md, and the table of attacks in docs/security.md, made of the result files."""
