"""One reader for each kind of file: bytes -> text, or entries of a structured source.

``notes``, ``screenshots`` (with ``ocr_layout``), ``calendars``, ``contacts``, ``documents`` (PDF,
Word, EPUB, HTML, mail); ``structured`` takes entries into memory without a model.
``agent.io.ingest`` knows which reader is for which file.
"""
