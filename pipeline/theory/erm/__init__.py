"""The alternative greedy of Appendix B: how often it loses a group."""
