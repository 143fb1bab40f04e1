"""What hindsight is worth: the page with its files, and the same for the report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.files import write_csv, write_text
from pipeline.paper.collection import Collection, CollectionError
from pipeline.paper.hindsight.held_out import COLUMNS, ENDS, WAYS, both_ways, gap_commands
from pipeline.paper.hindsight.picture import RIVALS, hindsight_figure
from pipeline.paper.published import BASELINE, CELL_KEY, CHAMPION, KEY, LINKS, METHODS, Setting
from pipeline.view.figure import save_all
from pipeline.view.names import NONE, cutoff_name, dataset_name, method_name, or_dash, row_name
from pipeline.view.page import Block, Commands, Heading, Items, Page, Picture, Text, TextTable

INTRODUCTION = """\
The paper tunes alpha on the ten splits it reports, which flatters every method that has an alpha.
Here the same ten splits (0-9) are reported twice: under the alpha tuned on themselves
(*in hindsight*, the paper's way) and under the alpha tuned on ten others, 10-19 (*held out*).

- **advantage**: over greedy, 1 − loss / loss of greedy; below 0 the method is worse than greedy.
- **survives**: advantage held out / advantage in hindsight; without an interval where the
  advantage in hindsight may itself be none.
- **P(ours beats it)**: share of splits on which `ours` has the smaller loss, ties count half: the
  probability of improvement of Agarwal et al. (2021), paired by split.
- In brackets 95% intervals of a paired bootstrap over splits, given the alphas chosen. With ten
  splits they are rather too narrow than too wide.

Every cell is in [hindsight.csv](hindsight.csv), these means in
[hindsight_overall.csv](hindsight_overall.csv)."""
OVERALL = (
    "method", "advantage in hindsight", "held out", "survives", "same alpha",
    "P(ours beats it) in hindsight", "held out",
)  # fmt: skip
SEVEN_DIGITS = "%.7g"  # all that 2^-10 has
BY_SETTING = ("dataset", "cutoff", "alpha", "advantage in hindsight", "held out", "survives")
MAKE = "python -m pipeline.paper hindsight"
TEXTS = dict.fromkeys(("protocol", *CELL_KEY, "state", "missing", "command"), "str")
# What the page draws of an advantage, by where it stands in the tables.
DRAWN = {"before": "hindsight", "after": "held_out", "low": "held_out_low", "high": "held_out_high"}


def write_hindsight(collection: Collection, folder: Path) -> list[str]:
    """Write the tables, the page and the figure; return the commands that fill the gaps.

    Args:
        collection: results of one protocol, on splits 0-9 and 10-19.
        folder: to write to.
    """
    cells, overall = both_ways(collection.losses, collection.protocol)
    commands = gap_commands(cells)
    for name, frame in zip(COLUMNS, (cells, overall), strict=True):
        write_csv(folder / f"{name}.csv", frame, SEVEN_DIGITS)
    write_text(folder / "hindsight.md", page(cells, overall, commands).markdown())
    save_all(hindsight_figure(cells), folder, "hindsight")
    return commands


def page(cells: pd.DataFrame, overall: pd.DataFrame, commands: Sequence[str]) -> Page:
    """Return the page."""
    blocks: list[Block] = [Text(INTRODUCTION)]
    for link, name in LINKS.items():
        blocks += [Heading(f"{name} link"), Text(summary(cells, overall, link))]
        done = cells[(cells["link"] == link) & (cells["state"] == "done")]
        if len(done):
            ours = done[done["method"] == CHAMPION].to_dict("records")
            blocks += [
                TextTable(OVERALL, [overall_texts(row) for row in _rivals(overall, link)]),
                Text(f"`{CHAMPION}`, setting by setting:"),
                TextTable(BY_SETTING, [setting_texts(row) for row in ours]),
            ]
    blocks += [Picture("advantage over greedy", "hindsight.png"), *_gaps(cells, commands)]
    return Page("What hindsight is worth", blocks)


def summary(cells: pd.DataFrame, overall: pd.DataFrame, link: str) -> str:
    """Return in a sentence what the means of a link are over, and how often ours is best."""
    here = cells[(cells["link"] == link) & (cells["state"] == "done")]
    if here.empty:
        return "No setting has all it takes."
    counts = [row["n_settings"] for row in _rivals(overall, link)]
    low, high = min(counts), max(counts)  # some methods may lack some
    over = f"{high} settings" if low == high else f"{low} to {high} settings, see Missing"
    known = here.groupby(["dataset", "cutoff"])["method"].transform("nunique")
    whole, least = here[known == len(METHODS)], []
    for way in WAYS:
        table = whole.pivot(index=["dataset", "cutoff"], columns="method", values=f"loss_{way}")
        won = table.get(CHAMPION, pd.Series(dtype=float)) == table.min(axis=1)
        least.append(f"{int(won.sum())} of {len(table)}")
    return (
        f"Means over {over}; `{CHAMPION}` has the least loss in {least[0]} in hindsight, "
        f"{least[1]} held out."
    )


def _rivals(overall: pd.DataFrame, link: str) -> list[dict[str, Any]]:
    """Return the means of a link, a row for each rival of greedy."""
    rows = overall[(overall["link"] == link) & (overall["method"] != BASELINE)]
    return list(rows.to_dict("records"))


def overall_texts(row: dict[str, Any]) -> list[str]:
    """Return the line of a method, as ``OVERALL`` names it."""
    beats = [_with_interval(row, f"ours_beats_{way}", "{:.2f}") for way in WAYS]
    same = or_dash(row["same_alpha"], "{:.0%}")
    return [method_name(row["method"]), *_advantages(row), same, *beats]


def setting_texts(row: dict[str, Any]) -> list[str]:
    """Return the line of a cell, as ``BY_SETTING`` names it."""
    alphas = (row[f"alpha_{way}"] for way in WAYS)
    texts = (f"2^{np.log2(alpha):g}".replace("-", "−") if alpha > 0 else NONE for alpha in alphas)
    names = [dataset_name(row["dataset"]), cutoff_name(row["cutoff"])]
    return [*names, " → ".join(texts), *_advantages(row)]


def _advantages(row: dict[str, Any]) -> list[str]:
    advantages = [_with_interval(row, f"advantage_{way}", "{:.1%}") for way in WAYS]
    return [*advantages, _with_interval(row, "survives", "{:.0%}")]


def _with_interval(row: dict[str, Any], name: str, pattern: str) -> str:
    value, low, high = (row[f"{name}{end}"] for end in ENDS)
    if np.isnan(value):
        return NONE
    ends = "" if np.isnan(low) else f" [{pattern.format(low)}, {pattern.format(high)}]"
    return f"{pattern.format(value)}{ends}".replace("-", "−")


def _gaps(cells: pd.DataFrame, commands: Sequence[str]) -> Iterator[Block]:
    """Yield what is missing, settings that lack the same in a line, and the commands."""
    gaps = cells[cells["state"] == "missing"]
    if gaps.empty:
        return
    yield Heading("Missing")
    yield Text(f"{len(gaps)} of {len(cells)} cells are left out:")
    alike: dict[tuple[str, str], list[str]] = {}
    for (*setting, missing), part in gaps.groupby([*KEY, "missing"], sort=False):
        every = len(part) == len(METHODS)
        methods = "all methods" if every else ", ".join(map(method_name, part["method"]))
        alike.setdefault((methods, missing), []).append(row_name(*setting))
    lines = (f"{', for lack of '.join(key)}: {'; '.join(names)}" for key, names in alike.items())
    yield Items(list(lines))
    yield Commands(commands)


def hindsight_part(folder: Path | None, protocol: str) -> dict[str, Any] | None:
    """Return what the report shows of the files in a folder, None where there is none."""
    if folder is None:
        return None
    cells, overall = (_read(folder / f"{name}.csv", names) for name, names in COLUMNS.items())
    others = sorted(set(cells["protocol"]) - {protocol})
    if others:
        raise CollectionError(f"--hindsight: its protocol is {others[0]}, not {protocol}")
    found: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for cell in cells.to_dict("records"):
        found[cell["link"], cell["method"]].append(_cell_part(cell))
    return {
        "heads": list(OVERALL),
        "links": {
            link: {
                "summary": summary(cells, overall, link),
                "rows": [overall_texts(row) for row in _rivals(overall, link)],
                "cells": {method: found[link, method] for method in RIVALS},
            }
            for link in LINKS
        },
        "methods": list(RIVALS),
        "about": list(BY_SETTING[2:]),
        "commands": gap_commands(cells),
    }


def _cell_part(cell: dict[str, Any]) -> dict[str, Any]:
    name = Setting(*(cell[label] for label in KEY)).name
    if cell["state"] != "done":
        return {"name": name, "missing": cell["missing"], "command": cell["command"]}
    figures = {short: cell[f"advantage_{column}"] for short, column in DRAWN.items()}
    known = {short: None if np.isnan(value) else value for short, value in figures.items()}
    return {"name": name, **known, "texts": setting_texts(cell)[2:]}


def _read(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    if not path.is_file():
        raise CollectionError(f"{path} is not there; `{MAKE}` writes it")
    try:
        frame = pd.read_csv(path, dtype=TEXTS, keep_default_na=False, na_values=[""])
    except (ValueError, UnicodeDecodeError) as error:
        raise CollectionError(f"{path}: {str(error).splitlines()[0]}") from error
    if tuple(frame.columns) != columns:
        lacking = [name for name in columns if name not in frame.columns]
        what = f"lacks the column {lacking[0]}" if lacking else "has other columns"
        raise CollectionError(f"{path} {what}; `{MAKE}` writes it anew")
    return frame.fillna({name: "" for name in TEXTS if name in frame})
