"""What can go wrong on the way from a name to a dataset."""

from __future__ import annotations


class DataError(Exception):
    """A dataset cannot be had as asked; the message says why and what to do."""


class MismatchError(DataError):
    """Data is not what its config expects; the message shows both figures."""

    @classmethod
    def of(cls, what: str, expected: object, found: object, advice: str = "") -> MismatchError:
        """Return the error that shows both figures."""
        more = f" ({advice})" if advice else ""
        return cls(f"{what}: expected {expected}, found {found}{more}")


class UnavailableError(DataError):
    """A source cannot deliver at present; another one may."""
