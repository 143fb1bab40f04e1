"""What hindsight is worth: the advantage over greedy, tuned in hindsight and held out.

For the rows of Tables 1 and 2: a line for each cell, and over all rows of a link. The intervals
hold the alphas fixed: they tell how sure a figure is, given the alphas that were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from pipeline.paper.by_setting import Setting, in_text
from pipeline.paper.collection import Collection, CollectionError
from pipeline.paper.fill_commands import fill_command, fill_commands
from pipeline.paper.published import BASELINE, LINKS, METHODS
from pipeline.paper.statistics.alphas import REPORTED, Grid, grids
from pipeline.paper.statistics.bootstrap import Estimate, mean_of
from pipeline.paper.statistics.held_out import TUNED_ON, WAYS, Cell, cells_of, lacking, survives

FIGURES = ("loss", "advantage", "ours_beats")
ENDS = ("", "_low", "_high")
COLUMNS = (
    "protocol", "link", "dataset", "cutoff", "method", "state",
    *(f"alpha_{way}" for way in WAYS),
    *(f"{figure}_{way}{end}" for figure in FIGURES for way in WAYS for end in ENDS),
    *(f"survives{end}" for end in ENDS),
    "missing", "command",
)  # fmt: skip
OVERALL_COLUMNS = (
    *("link", "method", "n_settings", "same_alpha"),
    *(name for name in COLUMNS if name.startswith(("advantage", "ours_beats", "survives"))),
)
Cells = dict[Setting, dict[str, Cell]]


def both_ways(losses: pd.DataFrame, protocol: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a row for each cell of Tables 1 and 2, and a row for each link and method."""
    found = grids(losses)
    cells: Cells = {setting: cells_of(setting, found.get(setting, {})) for setting in in_text()}
    rows = []
    for setting, known in cells.items():
        for method in METHODS:
            labels = {"protocol": protocol, **setting._asdict(), "method": method}
            if method in known:
                nothing = {"missing": "", "command": ""}
                rows.append({**labels, "state": "done", **nothing, **_figures(known[method])})
                continue
            rows.append({**labels, "state": "missing", **_gap(labels, found.get(setting, {}))})
    return pd.DataFrame(rows, columns=list(COLUMNS)), _overall(cells)


def gap_commands(cells: pd.DataFrame) -> list[str]:
    """Return few commands that run all that is missing."""
    commands = []
    for way in WAYS:
        own = ~cells["missing"].str.startswith(BASELINE)  # the gaps of greedy are its own
        gaps = cells[own & cells["missing"].str.contains(_splits_name(way), regex=False)]
        commands += [_on_splits(command, way) for command in fill_commands(gaps.to_dict("records"))]
    return commands


def joined(collection: Collection, fresh: Collection | None) -> Collection:
    """Return a collection with the losses of another, which has the fresh splits."""
    if fresh is None:
        return collection
    losses = pd.concat([collection.losses, fresh.losses], ignore_index=True)
    twice = losses[losses.duplicated([*losses.columns.drop("loss")])]
    if len(twice):
        name = " ".join(map(str, twice.iloc[0].drop("loss")))
        raise CollectionError(f"both collections have a loss of {name}")
    return Collection(collection.cells, losses, collection.curves)


def _figures(cell: Cell) -> dict[str, float]:
    found: dict[str, float] = {}
    for way, figures in cell.items():
        found[f"alpha_{way}"] = figures.alpha
        for name in FIGURES:
            found |= _named(f"{name}_{way}", getattr(figures, name))
    share = survives(*(cell[way].advantage for way in WAYS))
    return found | dict(zip((f"survives{end}" for end in ENDS), share, strict=True))


def _named(name: str, estimate: Estimate | None) -> dict[str, float]:
    if estimate is None:
        return {}
    figures = (estimate.value, *estimate.interval)
    return {f"{name}{end}": figure for end, figure in zip(ENDS, figures, strict=True)}


def _overall(cells: Cells) -> pd.DataFrame:
    """Return for each link and method the mean over settings, each of the same weight.

    The datasets are taken as given: their splits are resampled, not they.
    """
    rows = []
    for link in LINKS:
        for method in METHODS:
            chosen = [
                known[method] for setting, known in cells.items()
                if setting.link == link and method in known
            ]  # fmt: skip
            row = {"link": link, "method": method, "n_settings": len(chosen)}
            rows.append(row | (_mean_figures(chosen) if chosen else {}))
    return pd.DataFrame(rows, columns=list(OVERALL_COLUMNS))


def _mean_figures(cells: Sequence[Cell]) -> dict[str, float]:
    same = [len({cell[way].alpha for way in WAYS}) == 1 for cell in cells]
    found = {"same_alpha": float(np.mean(same))}
    advantages = [mean_of([cell[way].advantage for cell in cells]) for way in WAYS]
    for way, advantage in zip(WAYS, advantages, strict=True):
        found |= _named(f"advantage_{way}", advantage)
        beats = [e for cell in cells if (e := cell[way].ours_beats) is not None]
        found |= _named(f"ours_beats_{way}", mean_of(beats) if beats else None)
    return found | dict(zip((f"survives{end}" for end in ENDS), survives(*advantages), strict=True))


def _gap(labels: Mapping[str, str], found: Mapping[str, Grid]) -> dict[str, str]:
    """Return what a cell lacks, its own results or those of greedy, and the command for it."""
    method = labels["method"] if lacking(found.get(labels["method"])) else BASELINE
    ways = lacking(found.get(method))
    missing = " and ".join(map(_splits_name, ways))
    one = fill_command(
        *(labels["protocol"], [labels["dataset"]], labels["link"]), [labels["cutoff"]], [method]
    )
    return {
        "missing": missing if method == labels["method"] else f"{method} on {missing}",
        "command": "; ".join(_on_splits(one, way) for way in ways),
    }


def _splits_name(way: str) -> str:
    splits = TUNED_ON[way]
    return f"splits {splits[0]}-{splits[-1]}"


def _on_splits(line: str, way: str) -> str:
    """Return a command for the splits a way tunes on; the reported ones are run by default."""
    splits = ",".join(map(str, TUNED_ON[way]))
    return line if TUNED_ON[way] == REPORTED else f"{line} 'splits=[{splits}]'"
