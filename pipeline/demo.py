"""The seven methods side by side on a small table: ``python -m pipeline.demo``."""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from omegaconf import OmegaConf

from pipeline.core.engine import simulate
from pipeline.core.lanes import Simulation, grid
from pipeline.core.links import get_link
from pipeline.core.loss import cutoff_at, fit_truth
from pipeline.core.models.base import ModelSpec
from pipeline.core.tuning import Tuned, tune
from pipeline.data.splits import initial_size, stratified_split
from pipeline.paper.curves import Panel, draw
from pipeline.paper.style import look
from pipeline.paths import conf_dir

FloatArray = NDArray[np.float64]
Cell = tuple[str, float]
BOLD, PLAIN = "\033[1m", "\033[0m"


def breast_cancer() -> tuple[FloatArray, FloatArray]:
    """Return scikit-learn's breast-cancer table, standardised; label 1 is malignant."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), (y == 0).astype(np.float64)


def run_link(
    config: Any, link: str, X: FloatArray, y: FloatArray
) -> tuple[Simulation, dict[float, float]]:
    """Run every method, alpha, cutoff and split for one link; cutoff values by quantile too."""
    spec = ModelSpec(link=get_link(link), l2=config.l2)
    truth = fit_truth(X, y, spec)
    values = {quantile: cutoff_at(truth, quantile) for quantile in config.cutoffs}
    low, high = config.alpha_exponents
    alphas = [2.0**exponent for exponent in range(low, high + 1)]
    n_initial = initial_size(len(y), config.initial.share, config.initial.count)
    splits = [stratified_split(y, n_initial, config.seed, k) for k in range(config.splits)]
    simulation = simulate(
        *(X, y),
        truth=truth,
        splits=splits,
        lanes=grid(config.methods, alphas, values.values(), config.splits),
        spec=spec,
        batch_size=config.batch_size[link],
        seed=config.seed,
        n_threads=os.cpu_count() or 1,
    )
    return simulation, values


def panel(title: str, simulation: Simulation, tuned: Sequence[Tuned]) -> Panel:
    """Return the tuned curves of one cutoff."""
    curves = {best.method: simulation.curve[best.lanes] for best in tuned}
    return Panel(title, simulation.rounds, curves)


def table(rows: dict[Cell, list[Tuned]], bold: bool) -> Iterable[str]:
    """Yield the lines of the table: mean ± standard error, the tuned alpha below."""
    methods = [best.method for best in next(iter(rows.values()))]
    labels = [look(method).label.replace("one-sided", "os") for method in methods]
    yield f"{'':16}" + "".join(f"{label:>14}" for label in labels)
    for (link, quantile), cells in rows.items():
        least = min(best.mean for best in cells)
        shown = [f"{best.mean:.2f} ± {best.standard_error:.2f}".rjust(14) for best in cells]
        marked = [
            f"{BOLD}{text}{PLAIN}" if bold and best.mean == least else text
            for best, text in zip(cells, shown, strict=True)
        ]
        alphas = [power_of_two(best.alpha) for best in cells]
        yield f"{link:9} {quantile:5.0%} " + "".join(marked)
        yield f"{'':10} alpha" + "".join(f"{alpha:>14}" for alpha in alphas)


def power_of_two(alpha: float) -> str:
    """Return 4 as "4", 0.25 as "1/4", and 0, the alpha of a method that has none, as "–"."""
    if alpha == 0:
        return "–"
    return f"{alpha:g}" if alpha >= 1 else f"1/{1 / alpha:g}"


def write_csv(rows: dict[Cell, list[Tuned]], path: Path) -> None:
    """Write one line for each link, cutoff and method."""
    partial = path.with_name(f".{path.name}")
    with partial.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["link", "cutoff", "method", "alpha", "loss", "standard_error"])
        for (link, quantile), cells in rows.items():
            for best in cells:
                line = (best.method, best.alpha, best.mean, best.standard_error)
                writer.writerow([link, quantile, *line])
    partial.replace(path)


def main() -> None:
    """Simulate, print the table, draw the picture."""
    config = OmegaConf.load(conf_dir() / "demo.yaml")
    folder = Path("outputs/demo")
    folder.mkdir(parents=True, exist_ok=True)
    X, y = breast_cancer()
    print(f"breast cancer: {len(X)} rows, {X.shape[1]} columns, {y.mean():.0%} malignant")
    print("on first use the kernels are compiled, which takes about a minute …", flush=True)
    rows: dict[Cell, list[Tuned]] = {}
    panels, n_lanes, start = [], 0, time.perf_counter()
    for link in config.batch_size:
        simulation, values = run_link(config, link, X, y)
        best = tune(simulation)
        for quantile, value in values.items():
            rows[link, quantile] = [best[method, value] for method in config.methods]
            title = f"{link} link, {quantile:.0%} below the cutoff"
            panels.append(panel(title, simulation, rows[link, quantile]))
        n_lanes += len(simulation.lanes)
    print(f"{n_lanes:,} online runs in {time.perf_counter() - start:.1f} s\n")
    print("Cumulative one-sided loss, mean ± standard error over splits, under the tuned alpha:")
    print("\n".join(table(rows, bold=sys.stdout.isatty())))
    write_csv(rows, folder / "losses.csv")
    draw(panels, folder / "average_loss.png", title="Average one-sided loss, breast cancer")
    print(f"\nnumbers: {folder / 'losses.csv'}\npicture: {folder / 'average_loss.png'}")


if __name__ == "__main__":
    main()
