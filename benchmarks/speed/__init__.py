"""Seconds and megabytes: commands, the resident process, large homes, training."""
