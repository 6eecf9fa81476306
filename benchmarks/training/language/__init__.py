"""Makes the weights of what `agent.language` and its readers learned: dates, and secrets."""
