"""What tells jobs of a sweep apart when dataset, link, cutoff and method do not."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.results.sweeps import Entry

LABELLED = {"dataset", "link", "cutoff", "cutoff_value", "method", "protocol"}
SEEDS = {"seed", "dataset.seed"}
FEWEST_SEEDS = 4  # of which the mean is shown; fewer stand side by side


def with_variants(entries: Sequence[Entry], overrides: Sequence[Sequence[str]]) -> list[Entry]:
    """Return the entries with what else is swept added to the name of their method.

    Args:
        entries: jobs of a sweep.
        overrides: of every job, by its number.
    """
    swept = set(_swept(overrides))
    return [_named(entry, variant_of(entry.number, overrides, swept)) for entry in entries]


def shown_keys(overrides: Sequence[Sequence[str]]) -> set[str]:
    """Return what else is swept, but for the seeds of which a mean is shown."""
    return set(_swept(overrides)) - averaged_keys(overrides)


def averaged_keys(overrides: Sequence[Sequence[str]]) -> set[str]:
    """Return the seeds of which there are so many that their mean is shown."""
    swept = _swept(overrides)
    return {key for key in SEEDS & swept.keys() if swept[key] >= FEWEST_SEEDS}


def variant_of(number: int, overrides: Sequence[Sequence[str]], keys: set[str]) -> str:
    """Return what a job sets of some keys, as on the command line."""
    job = overrides[number] if keys else ()
    return " ".join(override for override in job if _key(override) in keys)


def _swept(overrides: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return the keys that differ between jobs and how many values each has.

    Those that every table shows anyway are left out.
    """
    values: dict[str, set[str]] = {}
    for job in overrides:
        for override in job:
            values.setdefault(_key(override), set()).add(override)
    found = {key: len(some) for key, some in values.items() if key not in LABELLED}
    return {key: count for key, count in found.items() if count > 1}


def _key(override: str) -> str:
    return override.partition("=")[0].lstrip("+")


def _named(entry: Entry, variant: str) -> Entry:
    if not entry.labels or not variant:
        return entry
    name = f"{entry.labels['method']} {variant}"
    return entry.but(labels={**entry.labels, "method": name})
