"""Results are files: where they lie, what they hold, how they are written and read."""
