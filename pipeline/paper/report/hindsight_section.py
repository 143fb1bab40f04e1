"""What hindsight is worth: from the files that ``python -m pipeline.paper hindsight`` wrote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.paper.by_setting import Setting
from pipeline.paper.collection import CollectionError
from pipeline.paper.pages.hindsight import (
    BY_SETTING,
    OVERALL,
    overall_texts,
    setting_texts,
    summary,
)
from pipeline.paper.published import BASELINE, LINKS, METHODS
from pipeline.paper.statistics.both_ways import COLUMNS, OVERALL_COLUMNS, gap_commands

MAKE = "python -m pipeline.paper hindsight"
TEXTS = ("protocol", "link", "dataset", "cutoff", "method", "state", "missing", "command")
ADVANTAGES = {
    "before": "advantage_hindsight",
    "after": "advantage_held_out",
    "low": "advantage_held_out_low",
    "high": "advantage_held_out_high",
}


@dataclass(frozen=True)
class Tuning:
    """Both ways of tuning: a row for each cell of Tables 1 and 2, and the means of a link."""

    cells: pd.DataFrame
    overall: pd.DataFrame

    @classmethod
    def read(cls, folder: Path) -> Tuning:
        """Read what ``write_hindsight`` wrote; refuse anything else."""
        return cls(
            _read(folder / "hindsight.csv", COLUMNS),
            _read(folder / "hindsight_overall.csv", OVERALL_COLUMNS),
        )


def tuning_part(tuning: Tuning | None, protocol: str) -> dict[str, Any] | None:
    """Return what the section shows, None where there is nothing."""
    if tuning is None:
        return None
    others = sorted(set(tuning.cells["protocol"]) - {protocol})
    if others:
        raise CollectionError(f"--hindsight: its protocol is {others[0]}, not {protocol}")
    return {
        "heads": list(OVERALL),
        "links": {link: _link(tuning, link) for link in LINKS},
        "methods": [method for method in METHODS if method != BASELINE],
        "about": list(BY_SETTING[2:]),
        "commands": gap_commands(tuning.cells),
    }


def _link(tuning: Tuning, link: str) -> dict[str, Any]:
    rows = tuning.overall[tuning.overall["link"] == link]
    lines = rows[rows["method"] != BASELINE].to_dict("records")
    here = tuning.cells[tuning.cells["link"] == link]
    return {
        "summary": summary(tuning.cells, tuning.overall, link),
        "rows": [overall_texts(line) for line in lines],
        "cells": {
            method: [_cell(cell) for cell in part.to_dict("records")]
            for method, part in here.groupby("method", sort=False)
            if method != BASELINE
        },
    }


def _cell(cell: dict[str, Any]) -> dict[str, Any]:
    name = Setting(*(cell[part] for part in Setting._fields)).name
    if cell["state"] != "done":
        return {"name": name, "missing": cell["missing"], "command": cell["command"]}
    figures = {short: cell[column] for short, column in ADVANTAGES.items()}
    known = {short: None if np.isnan(value) else value for short, value in figures.items()}
    return {"name": name, **known, "texts": setting_texts(cell)[2:]}


def _read(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    if not path.is_file():
        raise CollectionError(f"{path} is not there; `{MAKE}` writes it")
    texts = dict.fromkeys(TEXTS, "str")
    try:
        frame = pd.read_csv(path, dtype=texts, keep_default_na=False, na_values=[""])
    except (ValueError, UnicodeDecodeError) as error:
        raise CollectionError(f"{path}: {str(error).splitlines()[0]}") from error
    if tuple(frame.columns) != columns:
        lacking = [name for name in columns if name not in frame.columns]
        what = f"lacks the column {lacking[0]}" if lacking else "has other columns"
        raise CollectionError(f"{path} {what}; `{MAKE}` writes it anew")
    found = [name for name in TEXTS if name in frame]
    return frame.assign(**{name: frame[name].fillna("") for name in found})
