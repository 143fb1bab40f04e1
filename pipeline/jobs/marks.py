"""Small grids of what is done: cutoffs as rows, methods as columns, one mark a cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline.view.names import cutoff_name

Mark = Literal["done", "failed", "missing", "stale"]
SIGNS: Mapping[Mark, str] = {"done": "✓", "failed": "✗", "missing": "·", "stale": "~"}
COLOURS: Mapping[Mark, str] = {"done": "32", "failed": "31", "missing": "33", "stale": "2"}
MEANING: Mapping[Mark, str] = {
    "done": "done",
    "failed": "failed",
    "missing": "missing",
    "stale": "of other code",
}
WORST_FIRST: tuple[Mark, ...] = ("failed", "missing", "done", "stale")
FIRST_COLUMN = 10


@dataclass(frozen=True)
class Spot:
    """One job in a grid: protocol, dataset, link, cutoff and method, and how it stands."""

    labels: Mapping[str, str]
    mark: Mark


def grids(spots: Sequence[Spot], colour: bool) -> Iterator[str]:
    """Yield the lines of all grids: one for each protocol, dataset and link."""
    blocks: dict[tuple[str, str, str], list[Spot]] = {}
    for spot in spots:
        labels = spot.labels
        key = (labels["protocol"], labels["dataset"], labels["link"])
        blocks.setdefault(key, []).append(spot)
    for (protocol, dataset, link), block in blocks.items():
        done = sum(spot.mark == "done" for spot in block)
        yield f"{dataset}, {link} link, protocol {protocol}: {done} of {len(block)} done"
        yield from _grid(block, colour)
        yield ""


def legend(spots: Sequence[Spot]) -> str:
    """Return what the marks mean, those that are used."""
    used = {spot.mark for spot in spots}
    return "   ".join(f"{SIGNS[mark]} {MEANING[mark]}" for mark in SIGNS if mark in used)


def _grid(block: Sequence[Spot], colour: bool) -> Iterator[str]:
    cells: dict[tuple[str, str], list[Spot]] = {}
    for spot in block:
        cells.setdefault((spot.labels["cutoff"], spot.labels["method"]), []).append(spot)
    cutoffs, methods = (list(dict.fromkeys(part)) for part in zip(*cells, strict=True))
    yield f"{'':{FIRST_COLUMN}}" + "".join(f"  {method}" for method in methods)
    for cutoff in cutoffs:
        row = [_cell(cells.get((cutoff, method), []), len(method), colour) for method in methods]
        yield (f"  {cutoff_name(cutoff):{FIRST_COLUMN - 2}}" + "".join(row)).rstrip()


def _cell(spots: Sequence[Spot], width: int, colour: bool) -> str:
    """Return the mark of a cell; where it stands for several jobs, how many are done."""
    counted = [spot for spot in spots if spot.mark != "stale"] or spots
    if not counted:
        return " " * (width + 2)
    mark = next(mark for mark in WORST_FIRST if any(spot.mark == mark for spot in counted))
    done = sum(spot.mark == "done" for spot in counted)
    several = len(counted) > 1 and mark != "stale"
    text = f"{done}/{len(counted)}{SIGNS[mark]}" if several else SIGNS[mark]
    shown = f"  {text:^{width}}"
    return f"\033[{COLOURS[mark]}m{shown}\033[0m" if colour else shown
