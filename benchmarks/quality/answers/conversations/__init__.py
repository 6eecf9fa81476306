"""Chats and people by writers who saw no code of ours: what is kept and answered."""
