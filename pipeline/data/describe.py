"""What a dataset holds, in words and as a picture."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from omegaconf import OmegaConf

from pipeline.core.links import get_link
from pipeline.core.loss import cutoff_at, fit_truth
from pipeline.core.models.base import ModelSpec
from pipeline.data.configured import MAKERS, load_named
from pipeline.data.dataset import Dataset, check, encode
from pipeline.data.errors import DataError
from pipeline.data.score_figure import Scores, draw_scores
from pipeline.data.sources import Settings, find_table
from pipeline.data.spec import read_spec
from pipeline.paths import conf_dir

WIDTH = 92
PARTS = re.compile(r"=| in \(| > ")  # between a raw column and what became of it

FloatArray = NDArray[np.float64]
DEFAULT_PROTOCOL = "inferred"


@dataclass(frozen=True)
class Truth:
    """True scores and what their axis is called."""

    scores: FloatArray
    axis: str
    cutoffs: dict[float, float]


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
    recipe = spec.recipe(protocol)
    table, source = find_table(recipe.table, spec.tables[recipe.table], settings)
    dataset = encode(spec, protocol, table, source, own.get("group"))
    check(dataset, recipe.expect)
    return dataset, table.isna().sum()


def true_scores(dataset: Dataset, link: str) -> Truth:
    """Return the scores under β*: known for synthetic data, else fitted to all rows."""
    if dataset.truth is not None:
        scores, axis = dataset.truth, "true mean μ(x'β*), β* known"
    else:
        spec = ModelSpec(link=get_link(link), **_truth_settings(dataset, link))
        scores = fit_truth(dataset.X, dataset.y, spec)
        shown = "2μ(x'β*) − ½" if spec.score == "contrast" else "μ(x'β*)"
        axis = f"true score {shown}, β* fitted to all rows"
    return Truth(scores, axis, {share: cutoff_at(scores, share) for share in _paper_cutoffs()})


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


def describe(dataset: Dataset, missing: pd.Series | None, truth: Truth) -> Iterator[str]:
    """Yield the lines: shape, balance, missing values, columns, cutoffs.

    Args:
        dataset: what to describe.
        missing: number of missing values of each raw column, if there is a raw table.
        truth: its true scores.
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
    yield "cutoffs   " + "".join(f"{share:>8.0%}" for share in truth.cutoffs)
    yield "          " + "".join(f"{value:>8.3g}" for value in truth.cutoffs.values())
    if dataset.notes:
        yield "inferred"
        yield from (f"  {note}" for note in dataset.notes)
    yield "features"
    yield from _names(dataset.columns)


def picture(dataset: Dataset, link: str, truth: Truth, path: Path) -> None:
    """Draw the true scores with the cutoffs."""
    shape = f"{dataset.X.shape[0]:,} rows × {dataset.X.shape[1]} columns"
    link = "" if dataset.truth is not None else f", {link} link"
    title = f"{dataset.name} ({dataset.protocol}{link}): {shape}"
    own = dataset.cutoff_value
    scores = Scores(title, truth.axis, truth.scores, dataset.y, truth.cutoffs, own)
    draw_scores(scores, path)


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
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
