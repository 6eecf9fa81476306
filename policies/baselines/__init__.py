"""Policies without training."""
