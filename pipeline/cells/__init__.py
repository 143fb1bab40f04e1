"""What one result is: read from a config, named, computed, kept. No Hydra, no processes."""
