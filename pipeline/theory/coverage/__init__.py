"""Algorithm 2 with its constants: do its confidence widths hold, how wide are they."""
