"""What a person or a program waits for at a command, a chat, a prompt or the page."""
