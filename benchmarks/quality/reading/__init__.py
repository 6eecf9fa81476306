"""From text to memories: routing, context, extraction, dates, subclasses, screens."""
