"""Commands on files: ingest, watch, fill, export, import, backup, restore."""
