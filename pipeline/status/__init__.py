"""What is done, failed or missing."""
