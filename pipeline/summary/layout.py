"""Where the runs of a sweep are shown: rows and columns of a table, panels and lines of a picture.

Cutoffs are rows and methods are columns. What else is swept makes more rows; a few variants of a
single method are columns, to be seen in one panel. Many seeds make neither: their mean is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from pipeline.results.journal import Run, by_setting
from pipeline.view.names import cutoff_name, method_name
from pipeline.view.style import look

Block = tuple[str, str, str]  # protocol, dataset, link
Label = tuple[str, str]  # of a row: cutoff, variant; of a column: method, variant
LABELLED = {"dataset", "link", "cutoff", "cutoff_value", "method", "protocol"}
SEEDS = {"seed", "dataset.seed"}
FEWEST_SEEDS = 4  # of which the mean is shown; fewer stand side by side
WIDEST = 72  # letters of all variants that are columns: more do not fit below a picture


@dataclass(frozen=True)
class Sheet:
    """The finished runs of one dataset and link.

    Attributes:
        block: protocol, dataset and link.
        places: runs by row and column; several where they differ in their seed only.
        averaged: whether they may.
    """

    block: Block
    places: Mapping[tuple[Label, Label], Sequence[Run]]
    averaged: bool

    @property
    def rows(self) -> list[Label]:
        """Return the rows by cutoff, quantiles first; variants as they were given."""
        found = list(dict.fromkeys(row for row, _ in self.places))
        return sorted(found, key=lambda row: ("_" in row[0], float(row[0].rpartition("_")[2])))

    @property
    def columns(self) -> list[Label]:
        """Return the columns, as they were given."""
        return list(dict.fromkeys(column for _, column in self.places))

    @property
    def over(self) -> str:
        """Return what the figures are means over: splits, or seeds."""
        runs = [run for some in self.places.values() for run in some]
        n_splits = (runs[0].summary or {}).get("n_splits")
        splits = "1 split" if n_splits == 1 else f"{n_splits} splits"
        if not self.averaged:
            return splits
        counts = sorted({len(some) for some in self.places.values()})
        seeds = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
        return f"{seeds} seeds" if n_splits == 1 else f"{seeds} seeds of {splits} each"


def row_text(row: Label) -> str:
    """Return a row's name: "50%" or "50% protocol.delay=1"."""
    return " ".join(filter(None, (cutoff_name(row[0]), row[1])))


def column_text(column: Label) -> str:
    """Return a column's name: "ours" or "ours protocol.delay=1"."""
    return " ".join(filter(None, (method_name(column[0]), column[1])))


def lay_out(done: Sequence[Run], overrides: Sequence[Sequence[str]]) -> list[Sheet]:
    """Return a sheet for each dataset and link.

    Args:
        done: finished runs of a sweep.
        overrides: of every run, by its number.
    """
    swept = _swept(overrides)
    many = {key for key in SEEDS & swept.keys() if swept[key] >= FEWEST_SEEDS}
    variants = {run.number: variant_of(run.number, overrides, swept.keys() - many) for run in done}
    averaged = bool(many)
    return [
        Sheet(block, _places(runs, variants, averaged), averaged)
        for block, runs in by_setting(done).items()
    ]


def _places(
    runs: Sequence[Run], variants: Mapping[int, str], averaged: bool
) -> dict[tuple[Label, Label], list[Run]]:
    across = _fit({(run.labels["method"], variants[run.number]) for run in runs})
    places: dict[tuple[Label, Label], list[Run]] = {}
    for run in runs:
        variant = variants[run.number]
        row = (run.labels["cutoff"], "" if across else variant)
        column = (run.labels["method"], variant if across else "")
        before = places.get((row, column), []) if averaged else []
        places[row, column] = [*before, run]
    return places


def _fit(columns: set[Label]) -> bool:
    """Tell whether variants can be columns, whose lines must be told apart by their colours."""
    names = [column_text(column) for column in columns]
    colours = {look(name).colour for name in names}
    one_method = len({method for method, _ in columns}) == 1
    return one_method and len(colours) == len(names) and len("".join(names)) <= WIDEST


def with_variants(runs: Sequence[Run], overrides: Sequence[Sequence[str]]) -> list[Run]:
    """Return the runs with what else is swept added to the name of their method.

    Args:
        runs: runs of a sweep.
        overrides: of every run, by its number.
    """
    keys = _swept(overrides).keys()
    return [_named(run, variant_of(run.number, overrides, keys)) for run in runs]


def variant_of(number: int, overrides: Sequence[Sequence[str]], keys: Set[str]) -> str:
    """Return what a run sets of some keys, as on the command line."""
    run = overrides[number] if keys else ()
    return " ".join(override for override in run if _key(override) in keys)


def _swept(overrides: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return the keys that differ between runs and how many values each has.

    Those that every table shows anyway are left out.
    """
    values: dict[str, set[str]] = {}
    for run in overrides:
        for override in run:
            values.setdefault(_key(override), set()).add(override)
    return {k: len(some) for k, some in values.items() if len(some) > 1 and k not in LABELLED}


def _key(override: str) -> str:
    return override.partition("=")[0].lstrip("+")


def _named(run: Run, variant: str) -> Run:
    if not run.labels or not variant:
        return run
    name = f"{run.labels['method']} {variant}"
    return run.but(labels={**run.labels, "method": name})
