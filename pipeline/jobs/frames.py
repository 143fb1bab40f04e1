"""Run folders as frames: a row a cell, a row a round, a row a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.results.groups import group_rates
from pipeline.results.outcome import FIGURES, Outcome
from pipeline.results.runs import PARTS, RunFolder
from pipeline.results.sweeps import Entry

COLUMNS = (*PARTS, *FIGURES, "state", "reason", "folder", "seconds")
CURVE_COLUMNS = (*PARTS, "split", "round", "loss", "average_loss")
GROUP_COLUMNS = (*PARTS, "group", "loss", "accepted_rate", "missed_rate", "rows")
FAILED = "failed"


def collect(runs: Sequence[Entry]) -> pd.DataFrame:
    """Return one row for each run: what it was, its figures, and what became of it."""
    frame = pd.DataFrame([_row(run) for run in runs], columns=list(COLUMNS))
    floats = [name for name in FIGURES if name != "n_rounds"]
    return frame.astype({**dict.fromkeys(floats, "float64"), "n_rounds": "Int64"})


def curves(found: pd.DataFrame) -> pd.DataFrame:
    """Return R_t of the tuned alpha and R_t/t: a row for each cell, split and kept round.

    Args:
        found: what ``sweep`` returned, or some of its rows.
    """
    parts = []
    for labels, outcome in _outcomes(found):
        part = pd.DataFrame({**labels, **outcome.curves})
        parts.append(part.assign(average_loss=part["loss"] / part["round"]))
    return _joined(parts, CURVE_COLUMNS)


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
    return pd.DataFrame(rows, columns=list(GROUP_COLUMNS))


def _row(run: Entry) -> dict[str, Any]:
    figures = run.summary or {}
    finished = run.folder is not None and run.state != FAILED
    return {
        **run.labels,
        "cutoff": _cutoff(run.labels["cutoff"]),
        **{name: figures.get(name) for name in FIGURES},
        "state": run.state,
        "reason": run.reason,
        "folder": run.folder,
        "seconds": RunFolder(Path(str(run.folder))).status.get("seconds") if finished else None,
    }


def _cutoff(label: str) -> float | str:
    """Return a quantile as a number, and an absolute cutoff as it is named."""
    return label if label.startswith("value_") else float(label)


def _outcomes(found: pd.DataFrame) -> Iterator[tuple[dict[str, Any], Outcome]]:
    for row in found.to_dict("records"):
        if row["state"] != FAILED:
            yield {name: row[name] for name in PARTS}, RunFolder(Path(row["folder"])).outcome()


def _joined(parts: Sequence[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    if not parts:
        return pd.DataFrame(columns=list(columns))
    return pd.concat(parts, ignore_index=True)[list(columns)]
