"""What all experiments have in common: their options, and the way from a measurement to files.

An experiment is a folder with two modules. ``measure`` has EXPERIMENTS, the names in
conf/experiment it runs; OPTIONS, its numbers in conf/repro.yaml with what they mean;
``measure(options)``, which returns a :class:`~pipeline.theory.experiment.Measured`; and
``said(found)``, which yields the lines to print. ``page`` has ``page(found)`` and
``figure(found)``. They are imported when they are asked for, as they bring numba and matplotlib.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from typing import Any

from omegaconf import OmegaConf

from pipeline.files import write_csv, write_text
from pipeline.paths import conf_dir

EXPERIMENTS = {
    "trap": "Theorem 1: greedy loses a group for ever, its loss grows with T",
    "erm": "the alternative greedy of Appendix B: how often it loses a group",
    "rates": "how R_T grows with T, for each method, beside the bounds of the theory",
    "coverage": "Algorithm 2 with its constants: do its confidence widths hold, how wide are they",
    "sgd": "Algorithm 3: distance to β* and mistakes, beside Proposition 2",
}


def add_options(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the options of an experiment; the defaults are what ``dvc repro`` uses."""
    options = _module(name, "measure").OPTIONS
    usual: Any = OmegaConf.to_container(OmegaConf.load(conf_dir() / "repro.yaml"))
    for option, about in options.items():
        default = usual[name][option]
        several = "+" if isinstance(default, list) else None
        parser.add_argument(
            f"--{option}", type=_whole_number, nargs=several, default=default, help=about
        )
    parser.add_argument(
        "overrides",
        nargs="*",
        metavar="KEY=VALUE",
        help="as for python -m pipeline.run -m, such as dataset.n=1000",
    )


def run(name: str, options: argparse.Namespace) -> Iterator[str]:
    """Run an experiment, write its tables, page and figure; yield the lines to print."""
    from pipeline.view.figure import save_all

    measure, shown = _module(name, "measure"), _module(name, "page")
    found = measure.measure(options)
    for table, frame in found.tables.items():
        write_csv(options.out / f"{table}.csv", frame)
    page = shown.page(found)
    write_text(options.out / f"{name}.md", page.markdown())
    write_text(options.out / f"{name}.json", page.json())
    save_all(shown.figure(found), options.out, name)
    yield from measure.said(found)
    yield f"{name}: {options.out}"


def _module(name: str, part: str) -> Any:
    return importlib.import_module(f"pipeline.theory.{name}.{part}")


def _whole_number(text: str) -> int:
    """Return a number of the command line; refuse all but whole ones from 1."""
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
