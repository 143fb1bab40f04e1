"""From a name to a checked (X, y), and from there to splits."""
