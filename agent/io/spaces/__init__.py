"""The spaces of a home (docs/spaces.md): made, removed, backed up; memories brought across.

Where spaces lie and what each sees is in ``store.spaces``.
"""
