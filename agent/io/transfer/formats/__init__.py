"""Formats other than memlane's own JSONL.

``chat_exports``, ``agent_transcripts`` and ``mcp_memory`` are files of other programs, ``markdown``
is for people, ``graphml`` for Gephi.
May import: ``memory`` and below.
"""
