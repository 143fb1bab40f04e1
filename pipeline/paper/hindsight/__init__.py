"""What tuning alpha on the reported splits is worth: statistics, picture and page."""
