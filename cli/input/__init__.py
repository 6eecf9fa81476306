"""What commands ask for: lines, confirmations, the text editor."""
