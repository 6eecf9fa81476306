"""Tables beside the memories: consents, questions, persona lines, what was learned, queues."""
