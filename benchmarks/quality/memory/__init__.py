"""What a new memory does to older ones, and who is who."""
