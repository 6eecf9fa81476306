"""Homes of many memories: open, choose, edit, import, encrypt."""
