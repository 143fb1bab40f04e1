"""What all experiments have in common: their options, their cells, and the way to files.

An experiment is a module with EXPERIMENTS, the names in conf/experiment it runs; OPTIONS, its
numbers in conf/repro.yaml with what they mean; ``measure(options)``, which returns what is
:class:`Measured`; and the ``page`` and ``figure`` of that. It is imported when it is asked for, as
it brings numba and matplotlib.

A collection (pipeline/paper/collection.py) has one result for each dataset, link, cutoff and
method. Here a dataset comes in many sizes and seeds, so the run folders are read themselves.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from omegaconf import OmegaConf

from pipeline.files import conf_dir, write_csv, write_text

if TYPE_CHECKING:
    import pandas as pd

    from pipeline.cells.cell import Cell
    from pipeline.results.outcome import Outcome
    from pipeline.view.page import Block, Page

EXPERIMENTS = {
    "trap": "Theorem 1: greedy loses a group for ever, its loss grows with T",
    "erm": "the alternative greedy of Appendix B: how often it loses a group",
    "rates": "how R_T grows with T, for each method, beside the bounds of the theory",
    "coverage": "Algorithm 2 with its constants: do its confidence widths hold, how wide are they",
    "sgd": "Algorithm 3: distance to β* and mistakes, beside Proposition 2",
}
STYLE: dict[Any, Any] = {  # of all figures: a light grid and two spines
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "legend.frameon": False,
}
T = TypeVar("T")


@dataclass(frozen=True)
class Result:
    """A cell and what it found."""

    cell: Cell
    outcome: Outcome


@dataclass(frozen=True)
class Measured(Generic[T]):
    """What an experiment found.

    Attributes:
        tables: that are written as CSV, by name.
        runs: what page and figure need beside them.
        said: the lines to print.
    """

    tables: Mapping[str, pd.DataFrame]
    runs: Sequence[T]
    said: Iterable[str] = ()


def add_options(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the options of an experiment; the defaults are what ``dvc repro`` uses."""
    usual: Any = OmegaConf.to_container(OmegaConf.load(conf_dir() / "repro.yaml"))
    for option, about in _experiment(name).OPTIONS.items():
        default = usual[name][option]
        several = "+" if isinstance(default, list) else None
        parser.add_argument(
            f"--{option}", type=_whole_number, nargs=several, default=default, help=about
        )
    about = "as for python -m pipeline.run -m, such as dataset.n=1000"
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help=about)


def run(name: str, options: argparse.Namespace) -> Iterator[str]:
    """Run an experiment, write its tables, page and figure; yield the lines to print."""
    import matplotlib as mpl

    from pipeline.view.figure import save_all

    experiment = _experiment(name)
    found = experiment.measure(options)
    for table, frame in found.tables.items():
        write_csv(options.out / f"{table}.csv", frame)
    page = experiment.page(found)
    write_text(options.out / f"{name}.md", page.markdown())
    write_text(options.out / f"{name}.json", page.json())
    with mpl.rc_context(STYLE):  # also while it is saved: that is when ticks are made
        save_all(experiment.figure(found), options.out, name)
    yield from found.said
    yield f"{name}: {options.out}"


def results_of(experiments: Sequence[str], overrides: Sequence[str] = ()) -> list[Result]:
    """Return the results of experiments, in the order of their sweeps; compute what is not there.

    Args:
        experiments: their names in conf/experiment.
        overrides: as on the command line of ``python -m pipeline.run -m``.
    """
    from pipeline.sweeps.batch import run_sweep
    from pipeline.view.names import name_text

    found = []
    for name in experiments:
        swept = run_sweep([f"experiment={name}", *overrides])
        if failed := swept.failed:
            raise ValueError(
                f"experiment={name}: {len(failed)} of {len(swept.runs)} cells failed, "
                f"first {name_text(failed[0].labels)}: {failed[0].reason}"
            )
        pairs = zip(swept.cells, swept.runs, strict=True)
        found += [Result(cell, run.results().outcome()) for cell, run in pairs]
    return found


def lines(pattern: str, table: pd.DataFrame) -> Iterator[str]:
    """Yield a line for each row of a table, as the pattern says."""
    return (pattern.format_map(row) for row in table.to_dict("records"))


def page_of(title: str, *blocks: Block | str) -> Page:
    """Return a page; a string is a paragraph, wherever its lines are broken."""
    from pipeline.view.page import Page, Text

    return Page(title, [Text(" ".join(b.split())) if isinstance(b, str) else b for b in blocks])


def _experiment(name: str) -> Any:
    return importlib.import_module(f"pipeline.theory.{name}")


def _whole_number(text: str) -> int:
    """Return a number of the command line; refuse all but whole ones from 1."""
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
