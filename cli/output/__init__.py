"""What commands print: text, JSON, pictures."""
