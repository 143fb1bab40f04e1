"""Hydra's way into the project: a sweep is planned as a whole and handed out in parts."""
