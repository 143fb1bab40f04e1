"""Learning under one-sided feedback: the paper's methods, its experiments, and your own data."""
