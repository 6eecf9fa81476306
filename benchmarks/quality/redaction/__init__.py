"""How many secrets are taken out of a text, and how many harmless texts are changed."""
