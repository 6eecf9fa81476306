"""Memories, their sources and vectors, the taxonomy, and the check of them all."""
