"""What a user did not mean, said in one line."""

from __future__ import annotations


class ConfigError(ValueError):
    """A config asks for something that cannot be; the message names the key and what to do."""


class SweepError(Exception):
    """A sweep that had begun could not go on; its cause says why."""


class MethodError(ConfigError):
    """The file of a method of one's own cannot be used; in a sweep only its jobs fail."""
