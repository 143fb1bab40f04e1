"""Figures of small cells as they once were: whatever is rebuilt, they stay."""
