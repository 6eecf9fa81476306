"""EMG-RAG: policies that choose memories, their training, edits over weeks (docs/selection.md)."""
