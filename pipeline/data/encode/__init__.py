"""From the columns of a table to X, every step declared; nothing here sees a label."""
