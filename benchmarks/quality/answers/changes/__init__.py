"""Changes told freely, beside the same model with the messages pasted."""
