"""Attacks on a home in use: hostile requests, command lines, kills (docs/security.md)."""
