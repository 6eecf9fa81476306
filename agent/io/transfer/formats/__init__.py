"""Files that are not memlane's own JSONL: chat exports, MCP memory files, Markdown."""
