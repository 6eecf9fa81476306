"""What policies score by: words, signs of text, similarity, names in a question."""
