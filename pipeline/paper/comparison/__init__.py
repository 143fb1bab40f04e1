"""Each published figure beside ours: statistics, picture and page."""
