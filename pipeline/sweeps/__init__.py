"""Many cells: planned from a command line, run in parts by any workers, collected."""
