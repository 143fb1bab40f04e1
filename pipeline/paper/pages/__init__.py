"""Pages on what was found, as Markdown."""
