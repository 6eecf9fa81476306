"""Walks over the graph: ``walk`` of EMG-RAG and our own, ``scout`` (docs/selection.md)."""
