"""Texts with a layout -> sentences, by rule and without a model.

``markdown_notes``, ``labelled_fields`` (tickets, bookings, receipts; words in ``label_tables``),
``vouchers``, ``wiki_links``; ``sections`` (PDF, Word, EPUB, HTML and mail, with their pages).
"""
