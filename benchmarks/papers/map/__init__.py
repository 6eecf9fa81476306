"""MAP: predicted ratings (docs/ratings.md); its detection module is ``benchmarks.routing``."""
