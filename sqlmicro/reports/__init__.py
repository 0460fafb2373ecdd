"""What was found, as text, Markdown and HTML. May import `publish` and what is below it."""
