"""Erasure for good: plan, rows, bytes on disk, and the proof."""
