"""Algorithm 3 beside Proposition 2: distance to β* and mistakes."""
