"""Compiled loops over rows: how they are compiled, linear algebra, fits, lanes and draws."""
