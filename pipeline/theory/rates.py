"""How R_T grows with T: R_T ≈ C·T^p, beside the powers that the theory proves."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from pipeline.paper.estimates import Estimate, FloatArray, ends, mean_estimate, power
from pipeline.theory.driver import Measured, Result, lines, results_of
from pipeline.view.figure import bare, sheet
from pipeline.view.names import NONE
from pipeline.view.page import Block, Page, Picture, Text, TextTable
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

    @property
    def means(self) -> list[Estimate]:
        """Return mean R_T for each size."""
        return [mean_estimate(losses, "rates") for losses in self.losses.T]

    @property
    def power(self) -> Estimate:
        """Return p of R_T ≈ C·T^p over all sizes."""
        return power(self.sizes, self.losses, "rates")

    @property
    def late_power(self) -> float:
        """Return p between the last two sizes."""
        return power(self.sizes[-2:], self.losses[:, -2:], "rates").value


def measure(options: argparse.Namespace) -> Measured[Growth]:
    """Run the experiments: R_T, and its powers of T with their bounds."""
    every = gather(results_of(EXPERIMENTS, options.overrides))
    return Measured({"losses": losses_table(every), "powers": powers_table(every)}, every)


def said(found: Measured[Growth]) -> Iterator[str]:
    """Return a line for each dataset and method."""
    pattern = "{dataset}, {method}: R_T ~ T^{power:.2f} ({low:.2f} to {high:.2f})"
    return lines(pattern, found.tables["powers"])


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
            "runs": len(growth.losses),
            "loss": mean.value,
            **ends(mean.interval),
            "accepted": accepted,
        }
        for growth in every
        for size, mean, accepted in zip(growth.sizes, growth.means, growth.accepted, strict=True)
    ]
    return pd.DataFrame(rows)


def powers_table(every: Sequence[Growth]) -> pd.DataFrame:
    """Return the powers of T with intervals and bounds, a line for each dataset and method."""
    return pd.DataFrame([_power_row(growth) for growth in every])


def _power_row(growth: Growth) -> dict[str, Any]:
    estimate = growth.power
    bound = bound_of(growth.method, growth.dataset) or Bound(np.nan, "", "")
    return {
        "dataset": growth.dataset,
        "method": growth.method,
        "from": int(growth.sizes[0]),
        "to": int(growth.sizes[-1]),
        "runs": len(growth.losses),
        "power": estimate.value,
        **ends(estimate.interval),
        "last_step": growth.late_power,
        "bound": bound.power,
        "kind": bound.kind,
        "source": bound.source,
        "accepted_at_end": growth.accepted[-1],
    }


def figure(found: Measured[Growth]) -> Figure:
    """Return the figure: mean R_T with intervals, names and powers at the end of each line."""
    every = found.runs
    datasets = list(dict.fromkeys(growth.dataset for growth in every))
    drawn, axes = sheet(1, len(datasets), (5.2 * len(datasets), 4.4))
    highest = max(growth.losses.mean(axis=0).max() for growth in every)
    lowest = min(growth.losses.mean(axis=0).min() for growth in every)
    for axis, dataset in zip(axes, datasets, strict=True):
        here = [growth for growth in every if growth.dataset == dataset]
        axis.set(xscale="log", yscale="log", ylim=(lowest / 2, highest * 4))
        bare(axis)
        names = _draw_guides(axis, here, lowest)
        names += [_draw_growth(axis, growth) for growth in here]
        _write_names(axis, here, names)
        axis.set_title(TITLES.get(dataset, dataset), fontsize="medium")
        axis.set_xlabel("cases decided on, T")
    axes[0].set_ylabel("cumulative one-sided loss $R_T$")
    return drawn


class _Name(NamedTuple):
    """What is written at the right end of a line."""

    text: str
    colour: str
    size: float
    loss: float


def _draw_growth(axis: Axes, growth: Growth) -> _Name:
    """Draw mean R_T with its interval; return its name with the power of T."""
    shown = look(growth.method)
    low, high = np.transpose([mean.interval for mean in growth.means])
    mean = growth.losses.mean(axis=0)
    axis.plot(growth.sizes, mean, **shown.line, marker=MARKERS[growth.method], markersize=5)
    axis.fill_between(growth.sizes, low, high, color=shown.colour, alpha=0.15, lw=0)
    text = f"{shown.label}: $T^{{{growth.power.value:.2f}}}$"
    return _Name(text, shown.colour, growth.sizes[-1], mean[-1])


def _draw_guides(axis: Axes, here: Sequence[Growth], lowest: float) -> list[_Name]:
    """Draw T, T^⅔ and T^½ from one point: how steep the bounds are, not how high."""
    sizes = np.array([min(g.sizes[0] for g in here), max(g.sizes[-1] for g in here)])
    names = []
    for slope, text in GUIDES:
        line = 0.75 * lowest * (sizes / sizes[0]) ** slope
        axis.plot(sizes, line, color=GREY, linewidth=0.7, zorder=0)
        names.append(_Name(f"${text}$", GREY, sizes[1], line[1]))
    return names


def _write_names(axis: Axes, here: Sequence[Growth], names: Sequence[_Name]) -> None:
    """Write the names at the right of all lines, far enough from each other to be read.

    A line that ends earlier is led to its name by a hair.
    """
    first, last = min(g.sizes[0] for g in here), max(g.sizes[-1] for g in here)
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
    blocks: list[Block] = [
        Text(
            "R_T ≈ C·T^p: p is the slope of log mean R_T over log T, with a 95 % bootstrap "
            "interval over runs; the last step is p between the two largest T. A run has data of "
            "its own."
        ),
        TextTable.of(POWERS, powers, ("dataset", "method", "theory")),
        Picture("Cumulative loss over T", "rates.png"),
        Text("Mean R_T, with a 95 % bootstrap interval over runs:"),
        TextTable.of(LOSSES, losses, ("dataset", "method")),
    ]
    return Page("How fast the loss grows", blocks)


def _named(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(method=[look(method).label for method in table["method"]])
