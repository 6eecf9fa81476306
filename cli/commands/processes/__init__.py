"""Commands that start or end a process: up, down, web, mcp, hook."""
