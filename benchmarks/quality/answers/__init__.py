"""From questions to answers: what is found, when nothing is, and whether it is what holds now."""
