"""Files in and out.

``ingest`` takes files in: ``sources`` reads each kind, ``ignore_rules`` leaves some out;
``watch`` does it in the background, ``watch_status`` shows it, ``platform_events`` asks the
platform. ``transfer`` exports, imports and backs up; ``markdown_edit`` is memories as Markdown;
``rescue`` reads a damaged home into a new one.
May import: ``answering``, ``memory`` and below; not ``applications``, which stands beside.
"""
