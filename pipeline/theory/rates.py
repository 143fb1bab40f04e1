"""How R_T grows with T: R_T ≈ C·T^p, beside the powers that the theory proves."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from pipeline.paper.estimates import FloatArray, ends, mean_estimate, power
from pipeline.theory.driver import Measured, Result, lines, page_of, results_of
from pipeline.view.figure import sheet
from pipeline.view.names import NONE
from pipeline.view.page import Page, Picture, TextTable
from pipeline.view.style import look

EXPERIMENTS = ("rates", "rates_passive", "rates_theory", "rates_sgd")
OPTIONS: dict[str, str] = {}
METHODS = ("greedy", "passive", "ours", "ours_log", "ours_theory", "sgd")
TRAP = "greedy_trap"
MARKERS = dict(zip(METHODS, "s^oPDv", strict=True))
TITLES = {"glm": "Cases that resemble each other", TRAP: "A group unlike all others (Theorem 1)"}
POWERS = {
    "dataset": "{dataset}",
    "method": "{method}",
    "T": "{from:,} – {to:,}",
    "runs": "{runs}",
    "power of T": "{power:.2f} ({low:.2f} – {high:.2f})",
    "last step": "{last_step:.2f}",
    "theory": "{theory}",
    "accepted": "{accepted_at_end:.0%}",
}
LOSSES = {
    "dataset": "{dataset}",
    "method": "{method}",
    "T": "{T:,}",
    "runs": "{runs}",
    "R_T": "{loss:,.1f}",
    "interval": "{low:,.1f} – {high:,.1f}",
}
SAID = "{dataset}, {method}: R_T ~ T^{power:.2f} ({low:.2f} to {high:.2f})"
GUIDES = ((1.0, "T"), (2 / 3, "T^{2/3}"), (1 / 2, "T^{1/2}"))
GREY = "#777777"
ROOM = 0.6  # share of the decades of T that the names take at the right
LEAST_DISTANCE = 0.055  # of two names, as a share of the panel's height


class Bound(NamedTuple):
    """What the paper proves of a method's power of T."""

    power: float
    kind: str
    source: str


TUNED = Bound(1 / 2, "at most, were alpha ρ_t:", "Theorem 2")  # which has another coefficient
BOUNDS = {
    "greedy": Bound(1.0, "at least, in the trap", "Theorem 1"),
    "passive": Bound(2 / 3, "at most", "Proposition 1"),
    "ours": TUNED,
    "ours_log": TUNED,
    "ours_theory": Bound(1 / 2, "at most", "Theorem 2"),
}


def bound_of(method: str, dataset: str) -> Bound | None:
    """Return the bound of a method; None where the paper has none."""
    return None if (method == "greedy" and dataset != TRAP) else BOUNDS.get(method)


@dataclass(frozen=True)
class Growth:
    """R_T of one method on one dataset.

    Attributes:
        dataset: its name.
        method: its name.
        sizes: T, the rows decided on, ascending.
        losses: R_T, runs × sizes.
        accepted: mean share of rows accepted, for each size.
    """

    dataset: str
    method: str
    sizes: FloatArray
    losses: FloatArray
    accepted: FloatArray


def measure(options: argparse.Namespace) -> Measured[Growth]:
    """Run the experiments: R_T, and its powers of T with their bounds."""
    every = gather(results_of(EXPERIMENTS, options.overrides))
    losses, powers = losses_table(every), powers_table(every)
    return Measured({"losses": losses, "powers": powers}, every, lines(SAID, powers))


def gather(results: Sequence[Result]) -> list[Growth]:
    """Return the growth of each method on each dataset, in the order of METHODS."""
    table = pd.concat([_rows(result) for result in results], ignore_index=True)
    parts = dict(list(table.groupby(["dataset", "method"])))
    keys = product(dict.fromkeys(table["dataset"]), METHODS)
    return [_growth(*key, parts[key]) for key in keys if key in parts]


def _rows(result: Result) -> pd.DataFrame:
    """Return a line for each split of a cell, under the only alpha there is."""
    cell, losses = result.cell, result.outcome.losses
    if len(cell.alphas) > 1:
        raise ValueError("alpha: rates are those of one alpha, not one chosen for each T")
    size = int(result.outcome.summary["n_stream"])
    runs = [f"{cell.dataset['seed']}/{split}" for split in losses["split"]]
    figures = {"size": size, "loss": losses["loss"], "accepted": losses["accepted"] / size}
    labels = {"dataset": cell.dataset_label, "method": cell.method.name, "run": runs}
    return pd.DataFrame(labels | figures)


def _growth(dataset: str, method: str, part: pd.DataFrame) -> Growth:
    losses = part.pivot(index="run", columns="size", values="loss")
    if losses.isna().any(axis=None):
        raise ValueError(f"{dataset}, {method}: each seed needs a run of every size dataset.n")
    return Growth(
        dataset=dataset,
        method=method,
        sizes=losses.columns.to_numpy(np.float64),
        losses=losses.to_numpy(np.float64),
        accepted=part.groupby("size")["accepted"].mean().to_numpy(np.float64),
    )


def losses_table(every: Sequence[Growth]) -> pd.DataFrame:
    """Return mean R_T with its interval, a line for each dataset, method and T."""
    rows = [
        {
            "dataset": growth.dataset,
            "method": growth.method,
            "T": int(size),
            "runs": len(losses),
            **mean_estimate(losses, "rates").columns("loss"),
            "accepted": accepted,
        }
        for growth in every
        for size, losses, accepted in zip(
            growth.sizes, growth.losses.T, growth.accepted, strict=True
        )
    ]
    return pd.DataFrame(rows).rename(columns={"loss_low": "low", "loss_high": "high"})


def powers_table(every: Sequence[Growth]) -> pd.DataFrame:
    """Return the powers of T with intervals and bounds, a line for each dataset and method."""
    return pd.DataFrame([_power_row(growth) for growth in every])


def _power_row(growth: Growth) -> dict[str, Any]:
    sizes, losses = growth.sizes, growth.losses
    estimate = power(sizes, losses, "rates")
    bound = bound_of(growth.method, growth.dataset) or Bound(np.nan, "", "")
    return {
        "dataset": growth.dataset,
        "method": growth.method,
        "from": int(sizes[0]),
        "to": int(sizes[-1]),
        "runs": len(losses),
        "power": estimate.value,
        **ends(estimate.interval),
        "last_step": power(sizes[-2:], losses[:, -2:], "rates").value,
        "bound": bound.power,
        "kind": bound.kind,
        "source": bound.source,
        "accepted_at_end": growth.accepted[-1],
    }


def figure(found: Measured[Growth]) -> Figure:
    """Return the figure: mean R_T with intervals, names and powers at the end of each line."""
    powers = found.tables["powers"][["dataset", "method", "power"]]
    losses = found.tables["losses"].merge(powers)
    datasets = list(dict.fromkeys(losses["dataset"]))
    drawn, axes = sheet(1, len(datasets), (5.2 * len(datasets), 4.4))
    lowest, highest = losses["loss"].min(), losses["loss"].max()
    for axis, dataset in zip(axes, datasets, strict=True):
        here = losses[losses["dataset"] == dataset]
        axis.set(xscale="log", yscale="log", ylim=(lowest / 2, highest * 4))
        names = _draw_guides(axis, here["T"], lowest)
        names += [_draw_growth(axis, *part) for part in here.groupby("method", sort=False)]
        _write_names(axis, here["T"], names)
        axis.set(title=TITLES.get(dataset, dataset), xlabel="cases decided on, T")
    axes[0].set_ylabel("cumulative one-sided loss $R_T$")
    return drawn


class _Name(NamedTuple):
    """What is written at the right end of a line."""

    text: str
    colour: str
    size: float
    loss: float


def _draw_growth(axis: Axes, method: str, part: pd.DataFrame) -> _Name:
    """Draw mean R_T with its interval; return its name with the power of T."""
    shown, end = look(method), part.iloc[-1]
    axis.plot(part["T"], part["loss"], **shown.line, marker=MARKERS[method], markersize=5)
    axis.fill_between(part["T"], part["low"], part["high"], color=shown.colour, alpha=0.15, lw=0)
    return _Name(f"{shown.label}: $T^{{{end['power']:.2f}}}$", shown.colour, end["T"], end["loss"])


def _draw_guides(axis: Axes, T: pd.Series[int], lowest: float) -> list[_Name]:
    """Draw T, T^⅔ and T^½ from one point: how steep the bounds are, not how high."""
    sizes = np.array([T.min(), T.max()])
    names = []
    for slope, text in GUIDES:
        line = 0.75 * lowest * (sizes / sizes[0]) ** slope
        axis.plot(sizes, line, color=GREY, linewidth=0.7, zorder=0)
        names.append(_Name(f"${text}$", GREY, sizes[1], line[1]))
    return names


def _write_names(axis: Axes, T: pd.Series[int], names: Sequence[_Name]) -> None:
    """Write the names at the right of all lines, far enough from each other to be read.

    A line that ends earlier is led to its name by a hair.
    """
    first, last = T.min(), T.max()
    axis.set_xlim(first / 1.3, last * (last / first) ** ROOM)
    decades = [10.0**k for k in range(3, 1 + round(np.log10(last)))]
    axis.xaxis.set(major_locator=FixedLocator(decades), minor_locator=NullLocator())
    low, high = np.log(axis.get_ylim())
    before = -np.inf
    for name in sorted(names, key=lambda name: name.loss):
        before = max((np.log(name.loss) - low) / (high - low), before + LEAST_DISTANCE)
        height = float(np.exp(low + before * (high - low)))
        if name.size < last:
            ends = [name.size, 1.25 * last], [name.loss, height]
            axis.plot(*ends, color=name.colour, linewidth=0.6, linestyle=":")
        place = (1.3 * last, height)
        axis.annotate(name.text, place, va="center", color=name.colour, fontsize="small")


def page(found: Measured[Growth]) -> Page:
    """Return the page: powers with their bounds, and R_T."""
    powers, losses = (_named(found.tables[name]) for name in ("powers", "losses"))
    proved = powers["kind"] + powers["bound"].map(" {:.2f} (".format) + powers["source"] + ")"
    powers["theory"] = proved.where(powers["source"] != "", NONE)
    return page_of(
        "How fast the loss grows",
        """R_T ≈ C·T^p: p is the slope of log mean R_T over log T, with a 95 % bootstrap interval
        over runs; the last step is p between the two largest T. A run has data of its own.""",
        TextTable.of(POWERS, powers, ("dataset", "method", "theory")),
        Picture("Cumulative loss over T", "rates.png"),
        "Mean R_T, with a 95 % bootstrap interval over runs:",
        TextTable.of(LOSSES, losses, ("dataset", "method")),
    )


def _named(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(method=[look(method).label for method in table["method"]])
