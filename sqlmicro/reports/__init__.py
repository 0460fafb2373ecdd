"""Text, Markdown and HTML of what was found. Imports publish and all below."""
