"""Forms as files: ``open_form`` reads HTML, JSON Schema, CSV headers and bare labels.

``page`` is a page with the places of its fields, ``fill_html`` writes it with the fields filled.
"""
