"""What the results say: how far from the paper's, how sure, what tuning alpha is worth."""
