"""The adapter for reading notes and pairs: what it learns from, its training, what ships."""
