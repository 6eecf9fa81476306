"""What benchmarks share: options and result files (``common``), large homes, prompts of rewards."""
