"""RUMS: utility of subsets, and the policies made of it (docs/rums.md)."""
