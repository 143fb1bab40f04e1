"""What a dataset holds, in words and as a picture of its true scores."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from omegaconf import OmegaConf

from pipeline.core.links import get_link
from pipeline.core.loss import cutoff_at, fit_truth
from pipeline.core.models.base import ModelSpec
from pipeline.data.configured import MAKERS, load_named
from pipeline.data.dataset import Dataset, load_spec
from pipeline.data.encode.kinds import FloatArray
from pipeline.data.errors import DataError, whole_file
from pipeline.data.sources import Settings, find_table
from pipeline.data.spec import read_spec
from pipeline.files import conf_dir
from pipeline.terminal import printable

DEFAULT_PROTOCOL = "inferred"
WIDTH = 92
PARTS = re.compile(r"=| in \(| > ")  # between a raw column and what became of it
BINS = 30, 90  # fewest and most
ENDINGS = (".png", ".pdf", ".svg", ".eps", ".jpg", ".jpeg", ".tiff", ".webp")
TAIL = 0.002  # share of rows beyond each end of the picture
LABEL_COLOURS = ["#56B4E9", "#D55E00"]  # Okabe & Ito, as in all figures
INK = "#333333"


@dataclass(frozen=True)
class Scores:
    """The true scores of a dataset, its labels, and the cutoff value of each quantile."""

    title: str
    axis: str
    truth: FloatArray
    y: FloatArray
    cutoffs: Mapping[float, float]
    own_cutoff: float | None = None


def find(
    name: str, protocol: str, settings: Settings, own: dict[str, Any]
) -> tuple[Dataset, pd.Series | None]:
    """Return a dataset, and for one of the ten the missing values of each raw column.

    Args:
        name: of a dataset, or a CSV or parquet file.
        protocol: ``inferred`` or ``stated``.
        settings: of the sources.
        own: ``dataset.*`` settings.
    """
    if Path(name).is_file() or Path(name).suffix:
        return load_named("csv", protocol, settings, path=name, **own), None
    if name in MAKERS:
        return load_named(name, protocol, settings, **own), None
    spec = read_spec(name)
    for option in own.keys() - {"group"}:
        raise DataError(f"--{option} is for tables of your own; {name} is declared in conf/dataset")
    dataset = load_spec(spec, protocol, settings, own.get("group"))
    key = spec.recipe(protocol).table
    return dataset, find_table(key, spec.tables[key], settings)[0].isna().sum()


def true_scores(dataset: Dataset, link: str) -> Scores:
    """Return the scores under β*: known for synthetic data, else fitted to all rows."""
    way = dataset.protocol
    if dataset.truth is not None:
        truth, axis = dataset.truth, "true mean μ(x'β*), β* known"
    else:
        spec = ModelSpec(link=get_link(link), **_truth_settings(dataset, link))
        truth = fit_truth(dataset.X, dataset.y, spec)
        score = "2μ(x'β*) − ½" if spec.score == "contrast" else "μ(x'β*)"
        axis = f"true score {score}, β* fitted to all rows"
        way += f", {link} link"
    rows, columns = dataset.X.shape
    title = f"{dataset.name} ({way}): {rows:,} rows × {columns} columns"
    cutoffs = {share: cutoff_at(truth, share) for share in _paper_cutoffs()}
    return Scores(title, axis, truth, dataset.y, cutoffs, dataset.cutoff_value)


def _truth_settings(dataset: Dataset, link: str) -> dict[str, Any]:
    """Return how a run's protocol fits β*; an own table is run under the default one."""
    folder = conf_dir() / "protocol"
    known = dataset.protocol if (folder / dataset.protocol).is_dir() else DEFAULT_PROTOCOL
    config: Any = OmegaConf.load(folder / known / f"{link}.yaml")
    settings = {**config.model, **config.truth}
    if settings["fit_intercept"] is None:
        settings["fit_intercept"] = dataset.intercept
    return settings


def _paper_cutoffs() -> list[float]:
    """Return the cutoffs of the paper's tables."""
    experiment: Any = OmegaConf.load(conf_dir() / "experiment" / "paper.yaml")
    return [float(share) for share in experiment.hydra.sweeper.params.cutoff.split(",")]


def describe(dataset: Dataset, missing: pd.Series | None, scores: Scores) -> Iterator[str]:
    """Yield the lines: shape, balance, missing values, columns, cutoffs.

    Args:
        dataset: what to describe.
        missing: number of missing values of each raw column, if there is a raw table.
        scores: its true scores.
    """
    rows, columns = dataset.X.shape
    yield f"{dataset.name} ({dataset.protocol}), from {dataset.source}"
    yield _line("rows", f"{rows:,}")
    yield _line("columns", f"{columns}{', and an intercept' if dataset.intercept else ''}")
    if np.isin(dataset.y, (0.0, 1.0)).all():
        ones = int(dataset.y.sum())
        yield _line("balance", f"{ones:,} label 1 ({ones / rows:.1%}), {rows - ones:,} label 0")
    else:
        yield _line("labels", f"real: mean {dataset.y.mean():.3g}, sd {dataset.y.std():.3g}")
    if dataset.group is not None:
        sizes = np.bincount(dataset.group.codes)
        parts = zip(dataset.group.names, sizes, strict=True)
        yield _line("groups", ", ".join(f"{name} {size:,}" for name, size in parts))
    if missing is not None:
        yield _line("missing", _missing(missing))
    for label, text in (("licence", dataset.licence), ("cite", dataset.citation)):
        if text:
            yield _line(label, text)
    yield "cutoffs   " + "".join(f"{share:>8.0%}" for share in scores.cutoffs)
    yield "          " + "".join(f"{value:>8.3g}" for value in scores.cutoffs.values())
    if dataset.notes:
        yield "inferred"
        yield from (f"  {printable(note)}" for note in dataset.notes)
    yield "features"
    yield from _names(dataset.columns)


def _names(columns: Sequence[str]) -> Iterator[str]:
    """Yield the names: what one raw column became on one line, plain numbers together."""
    plain = []
    for raw, names in itertools.groupby(columns, lambda name: PARTS.split(name, maxsplit=1)[0]):
        parts = [name.removeprefix(raw).strip() for name in names]
        if parts == [""]:
            plain.append(raw)
            continue
        shown = " | ".join(part.removeprefix("=").removeprefix("in ") for part in parts)
        yield _wrapped(f"  {raw}: {shown}", "    ")
    if plain:
        yield _wrapped(f"  {', '.join(plain)}", "    ")


def _missing(missing: pd.Series) -> str:
    some = missing[missing > 0].sort_values(ascending=False)
    if some.empty:
        return "none"
    shown = ", ".join(f"{name} {count:,}" for name, count in some.head(8).items())
    more = f" and {len(some) - 8} more columns" if len(some) > 8 else ""
    return f"{int(some.sum()):,} raw values: {shown}{more}"


def _line(label: str, text: str) -> str:
    return _wrapped(f"{label:10}{text}", " " * 10)


def _wrapped(text: str, indent: str) -> str:
    shown = printable(text)
    return textwrap.fill(shown, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def draw_scores(scores: Scores, path: Path) -> None:
    """Draw the scores and write the picture to ``path``, whole or not at all."""
    figure = scores_figure(scores)
    with whole_file(path, "name another file with --output") as partial:
        figure.savefig(partial, format=path.suffix.lstrip("."), dpi=160)


def check_picture(path: Path) -> None:
    """Raise where a path is a folder, or its ending is that of no picture."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a picture in it: {path / 'scores.png'}")
    if path.suffix.lower() not in ENDINGS:
        raise DataError(f"{path} does not end as a picture does: {', '.join(ENDINGS)}")


def scores_figure(scores: Scores) -> Figure:
    """Return the histogram of the scores with the cutoffs."""
    figure = Figure(figsize=(8.6, 4.6), layout="constrained")
    axis = figure.subplots()
    low, high = _window(scores)
    bins = int(np.clip(2 * np.sqrt(len(scores.truth)), *BINS))
    _draw_histogram(axis, scores, np.linspace(low, high, bins + 1).tolist())
    _draw_cutoffs(axis, scores, low, high)
    axis.set_xlim(low, high)
    axis.set_xlabel(f"{scores.axis}{_beyond(scores, low, high)}")
    axis.set_ylabel("rows")
    axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{scores.title}\n", fontsize="medium")  # a line of space above the labels
    handles, labels = axis.get_legend_handles_labels()
    look = {"frameon": False, "fontsize": 8, "ncols": len(labels)}
    figure.legend(handles, labels, loc="outside lower center", **look)
    return figure


def _beyond(scores: Scores, low: float, high: float) -> str:
    """Return a remark on rows that the picture does not show."""
    count = int(((scores.truth < low) | (scores.truth > high)).sum())
    if not count:
        return ""
    return f" ({count:,} {'row lies' if count == 1 else 'rows lie'} beyond the ends)"


def _window(scores: Scores) -> tuple[float, float]:
    """Return the ends of the picture: outliers are counted, not shown."""
    low = float(np.quantile(scores.truth, TAIL, method="higher"))
    high = float(np.quantile(scores.truth, 1 - TAIL, method="lower"))
    low, high = min(low, *scores.cutoffs.values()), max(high, *scores.cutoffs.values())
    margin = 0.02 * (high - low) or 1.0
    return low - margin, high + margin


def _draw_histogram(axis: Axes, scores: Scores, edges: list[float]) -> None:
    parts = {"all rows": scores.truth}
    if np.isin(scores.y, (0.0, 1.0)).all():
        both = [scores.truth[scores.y == label] for label in (0, 1)]
        parts = {f"label {label}: {len(part):,} rows": part for label, part in enumerate(both)}
    colours = LABEL_COLOURS[: len(parts)]
    axis.hist(list(parts.values()), edges, stacked=True, color=colours, label=list(parts))


def _draw_cutoffs(axis: Axes, scores: Scores, low: float, high: float) -> None:
    """Mark the cutoffs, their labels above the picture and clear of each other."""
    top = axis.get_ylim()[1]
    axis.set_ylim(0, top)
    values = list(scores.cutoffs.values())
    places = _spread(np.array(values), 0.045 * (high - low), low, high)
    line = {"arrowstyle": "-", "color": INK, "linewidth": 0.6, "alpha": 0.75}
    style: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": 8}
    for quantile, value, place in zip(scores.cutoffs, values, places, strict=True):
        axis.plot([value, value], [0, top], color=INK, linewidth=0.8, alpha=0.75)
        ends = (value, top), (place, 1.075 * top)
        axis.annotate(f"{quantile:.0%}", *ends, arrowprops=line, annotation_clip=False, **style)
    axis.plot([], [], color=INK, linewidth=0.8, label="cutoff, share of rows below")
    if scores.own_cutoff is not None:
        label = f"the dataset's own cutoff {scores.own_cutoff:g}"
        axis.axvline(scores.own_cutoff, color="#000000", linestyle=(0, (4, 2)), label=label)


def _spread(places: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Return places at least ``gap`` apart, in order, as near to the wanted ones as that allows.

    With p_k = q_k + k·gap the q must not fall: their isotonic regression.
    """
    from sklearn.isotonic import isotonic_regression

    steps = gap * np.arange(len(places))
    bounds = {"y_min": low, "y_max": max(low, high - steps[-1])}
    spread: FloatArray = isotonic_regression(places - steps, **bounds) + steps
    return spread
