"""Theorem 1: greedy loses a group of rows for ever, and its loss grows with T."""
