"""How a sweep ends: its tables, its numbers, its pictures."""
