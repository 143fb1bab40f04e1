"""Models: what scores a row and says how uncertain the score is."""
