"""Results as frames: a row a cell, a row a round, a row a group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.files import write_csv
from pipeline.results.average import group_rates
from pipeline.results.journal import DONE, Run
from pipeline.results.outcome import FIGURES, Outcome
from pipeline.results.runs import PARTS, RunFolder
from pipeline.terminal import printable

FIGURE_TYPES = {name: "Int64" if name.startswith("n_") else "float64" for name in FIGURES}
COLUMNS = (*PARTS, *FIGURES, "state", "reason", "folder", "seconds")
CURVE_COLUMNS = [*PARTS, "split", "round", "loss", "average_loss"]
GROUP_COLUMNS = [*PARTS, "group", "loss", "accepted_rate", "missed_rate", "rows"]
FORMULA = tuple("=+-@")


def collect(runs: Sequence[Run]) -> pd.DataFrame:
    """Return one row for each run: what it was, its figures, and what became of it."""
    frame = pd.DataFrame([_row(run) for run in runs], columns=list(COLUMNS))
    return frame.astype(FIGURE_TYPES)


def write_summary(runs: Sequence[Run], path: Path) -> None:
    """Write the frame of some runs as CSV, in which no text can start a spreadsheet's formula."""
    frame = collect(runs).drop(columns="seconds")
    labels = pd.DataFrame([run.labels for run in runs], columns=list(PARTS))
    words = frame[["state", "reason", "folder"]].join(labels)
    guarded = words.map(_no_formula, na_action="ignore")
    write_csv(path, frame.assign(**guarded)[list(frame)], digits=None)


def curves(found: pd.DataFrame) -> pd.DataFrame:
    """Return R_t of the tuned alpha and R_t/t: a row for each cell, split and kept round.

    Args:
        found: what ``sweep`` returned, or some of its rows.
    """
    parts = []
    for labels, outcome in _outcomes(found):
        part = pd.DataFrame({**labels, **outcome.curves})
        parts.append(part.assign(average_loss=part["loss"] / part["round"]))
    if not parts:
        return pd.DataFrame(columns=CURVE_COLUMNS)
    return pd.concat(parts, ignore_index=True)[CURVE_COLUMNS]


def groups(found: pd.DataFrame) -> pd.DataFrame:
    """Return the results of each group, where groups are named: a row for each cell and group.

    Args:
        found: what ``sweep`` returned, or some of its rows.
    """
    rows = [
        {**labels, **asdict(rates)}
        for labels, outcome in _outcomes(found)
        for rates in group_rates(outcome)
    ]
    return pd.DataFrame(rows, columns=GROUP_COLUMNS)


def _no_formula(word: str) -> str:
    shown = printable(word)
    return f"'{shown}" if word[:1] in FORMULA else shown


def _row(run: Run) -> dict[str, Any]:
    figures = run.summary or {}
    return {
        **run.labels,
        "cutoff": _cutoff(run.labels.get("cutoff")),
        **{name: figures.get(name) for name in FIGURES},
        "state": run.state,
        "reason": run.reason,
        "folder": run.folder,
        "seconds": run.results().status.get("seconds") if run.is_done else None,
    }


def _cutoff(label: str | None) -> float | str | None:
    """Return a quantile as a number, and an absolute cutoff as it is named."""
    return label if label is None or label.startswith("value_") else float(label)


def _outcomes(found: pd.DataFrame) -> Iterator[tuple[dict[str, Any], Outcome]]:
    for row in found.to_dict("records"):
        if row["state"] in DONE:
            yield {name: row[name] for name in PARTS}, RunFolder(Path(row["folder"])).outcome()
