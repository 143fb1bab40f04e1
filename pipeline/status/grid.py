"""Small grids of what is done: cutoffs as rows, methods as columns, one mark a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from pipeline.results.journal import Run, State
from pipeline.view.names import cutoff_name
from pipeline.view.text_table import print_table

# Sign, colour and meaning of each state, the worst of a cell's runs first.
MARKS: Mapping[State, tuple[str, str, str]] = {
    "failed": ("✗", "red", "failed"),
    "missing": ("·", "yellow", "missing"),
    "kept": ("✓", "green", "done"),
    "stale": ("~", "dim", "of other code"),
}
SHOWN: tuple[State, ...] = ("kept", "failed", "missing", "stale")
FIRST_COLUMN = 10


def print_grids(runs: Sequence[Run]) -> None:
    """Print a grid for each protocol, dataset and link, and what the marks in them mean."""
    blocks: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        labels = run.labels
        key = (labels["protocol"], labels["dataset"], labels["link"])
        blocks.setdefault(key, []).append(run)
    for (protocol, dataset, link), block in blocks.items():
        done = sum(run.is_done for run in block)
        print(f"{dataset}, {link} link, protocol {protocol}: {done} of {len(block)} done")
        _print_grid(block)
        print()
    used = {run.state for run in runs}
    print("   ".join(f"{MARKS[s][0]} {MARKS[s][2]}" for s in SHOWN if s in used))


def _print_grid(block: Sequence[Run]) -> None:
    cells: dict[tuple[str, str], list[Run]] = {}
    for run in block:
        cells.setdefault((run.labels["cutoff"], run.labels["method"]), []).append(run)
    cutoffs, methods = (list(dict.fromkeys(part)) for part in zip(*cells, strict=True))
    rows: list[list[str | Text]] = [["", *(f"  {method}" for method in methods)]]
    for cutoff in cutoffs:
        marks = [_mark(cells.get((cutoff, method), [])) for method in methods]
        rows.append([f"  {cutoff_name(cutoff)}", *marks])
    print_table(rows, FIRST_COLUMN, justify="center")


def _mark(runs: Sequence[Run]) -> Text:
    """Return the mark of a cell; where it stands for several runs, how many are done."""
    counted = [run for run in runs if run.state != "stale"] or runs
    if not counted:
        return Text()
    state = next(state for state in MARKS if any(run.state == state for run in counted))
    done = sum(run.is_done for run in counted)
    several = len(counted) > 1 and state != "stale"
    sign, colour, _ = MARKS[state]
    return Text(f"  {done}/{len(counted)}{sign}" if several else f"  {sign}", style=colour)
