"""Persona-DB: opinions predicted from a persona (docs/personas.md)."""
