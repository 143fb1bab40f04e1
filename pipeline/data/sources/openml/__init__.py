"""OpenML, through the openml package in a process of its own."""

from pipeline.data.sources.openml.source import OpenMLSource

__all__ = ["OpenMLSource"]
