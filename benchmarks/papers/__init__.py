"""The tables of the five papers, a folder each, on the data sets of ``--data DIR``."""
