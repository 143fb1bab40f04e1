"""Jobs: from a config to a cell, from a cell to a run folder, many of them in a sweep."""
