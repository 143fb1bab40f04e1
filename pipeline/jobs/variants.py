"""What tells jobs of a sweep apart when dataset, link, cutoff and method do not."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.results.sweeps import Entry

LABELLED = {"dataset", "link", "cutoff", "cutoff_value", "method", "protocol"}


def with_variants(entries: Sequence[Entry], overrides: Sequence[Sequence[str]]) -> list[Entry]:
    """Return the entries with what else is swept added to the name of their method.

    Args:
        entries: jobs of a sweep.
        overrides: of every job, by its number.
    """
    swept = _swept(overrides)
    if not swept:
        return list(entries)
    return [
        _named(entry, [o for o in overrides[entry.number] if _key(o) in swept]) for entry in entries
    ]


def _swept(overrides: Sequence[Sequence[str]]) -> set[str]:
    """Return the keys that differ between jobs, but for those every table shows anyway."""
    values: dict[str, set[str]] = {}
    for job in overrides:
        for override in job:
            values.setdefault(_key(override), set()).add(override)
    return {key for key, found in values.items() if len(found) > 1} - LABELLED


def _key(override: str) -> str:
    return override.partition("=")[0].lstrip("+")


def _named(entry: Entry, variant: Sequence[str]) -> Entry:
    if not entry.labels:
        return entry
    name = " ".join([entry.labels["method"], *variant])
    return entry.but(labels={**entry.labels, "method": name})
