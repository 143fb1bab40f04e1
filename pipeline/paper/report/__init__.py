"""The report: one page that opens offline, made of collected results."""
