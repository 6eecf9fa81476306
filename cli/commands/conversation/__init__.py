"""Commands that talk: say, ask, remember, chat, why, feedback, demo."""
