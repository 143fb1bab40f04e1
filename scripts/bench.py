"""Measure our engine beside other people's ways of doing the same work, in one run.

    python scripts/bench.py                  # all of it, some minutes; writes docs/benchmarks.md
    python scripts/bench.py --only linear    # one section, printed only
    python scripts/bench.py --quick          # toy sizes, to see that it works

Ratios count, not seconds: what is compared takes turns on the same data and machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from benchmarks import (
    cells,
    first_call,
    learner,
    linear,
    logistic,
    machine,
    memory,
    own_tables,
    scaling,
    sgd,
    startup,
    sweeps,
)
from benchmarks.report import Report, Row, Section, as_csv, as_markdown, print_row, save
from benchmarks.sizes import FULL, QUICK, Sizes
from benchmarks.timing import ROOT
from rivals import flops, mabwiser_linucb, river_bayes, sklearn_refit, vw_regcb
from threadpoolctl import threadpool_limits

PACKAGES = (flops, mabwiser_linucb, river_bayes, sklearn_refit, vw_regcb)
OUTPUTS = [ROOT / "docs" / "benchmarks.md", ROOT / "outputs" / "benchmarks.csv"]
WRITERS = {".md": as_markdown, ".csv": as_csv}
ABOUT = (
    "Written by `scripts/bench.py`. Everything stands in one run on the same data and machine; "
    "what is compared took turns and shows its best time; all were held to one thread (BLAS too) "
    "and are measured in processor time, but for compiling and threads. "
    "Where a section does not say otherwise, *ratio* is how many times faster ours is, *theirs* "
    "is the time of what stands under *versus*, and times of ours include preparing the data."
)
SECTIONS = {
    "compile": Section(
        "Compile once",
        "Time until the first results in a new process: *ours* with the kernels in the cache, "
        "*theirs* with an empty cache. All other sections run with the kernels loaded.",
        first_call.first_call,
    ),
    "linear": Section(
        "Linear link, one row a round",
        "Time per round and lane, one thread. Ours runs all seven methods with three alphas (19 "
        "lanes) in one call, which shares the preparation as a sweep does; about half of the rows "
        "are accepted. The numpy loop runs the seven methods on the first rounds of the same "
        "stream. A refit is what its user pays in every round. river, mabwiser (arm "
        "`accept` only) and Vowpal Wabbit run the first rounds after the same warm start, and "
        "are compared with our method `ours`; Vowpal Wabbit makes one gradient step, not a fit.",
        linear.linear,
    ),
    "bound": Section(
        "Floating-point bound",
        "*Ratio* is our time over the bound: flops of the decisions taken (4d² an accepted row, d² "
        "a width of a rejected one, 2d a score) at the best rate of a matrix product on one core.",
        linear.bound,
    ),
    "sparse": Section(
        "One-hot rows",
        "Time per round and lane in the sparse layout (*ours*) and the dense one (*theirs*).",
        linear.sparse,
    ),
    "logistic": Section(
        "Logistic link, refit after every batch",
        "Time of a whole stream, 122 one-hot columns, greedy, one thread. Ours is measured in "
        "full, and is the time of a lane when four share the preparation of the data, as in a "
        "sweep, unless it says *one lane a call*. A solver is timed at evenly spread refits, on "
        "the rows observed by then and, if it starts warm, from the exact optimum of the round "
        "before; the mean times the number of refits is its time. The error is the largest "
        "distance of a score to that of Newton's method at those refits: only a solver with a "
        "small one does the same work.",
        logistic.logistic,
    ),
    "learner": Section(
        "The streaming learner",
        "`decide` and `learn` of `OneSidedLearner`, method `ours`, one row a round unless it says "
        "otherwise, every row accepted. *Versus* river's BayesianLinearRegression, which predicts "
        "the same, *ratio* is how many times faster ours is; *versus* microseconds it is what a "
        "round costs; *versus* the engine, how many times longer the same decisions take than in "
        "one call of `simulate`, which prepares the data too. All other sections but the last are "
        "of the engine.",
        learner.learner,
    ),
    "cells": Section(
        "Cells of the paper, refitted",
        "One split of a cell at cutoff 50%. *Ours* is the time of an online run when all seven "
        "methods and alphas of the cell (91 runs) share a call, as they do in "
        "`pipeline.reproduce`; *theirs* is one run of greedy with scikit-learn's Ridge refitted "
        "after every accepted row, or its LogisticRegression (liblinear) after every batch.",
        cells.cells,
    ),
    "threads": Section(
        "Two threads",
        "The same lanes with two threads (*ours*) and one (*theirs*).",
        scaling.threads,
    ),
    "startup": Section(
        "Start-up",
        "*Ratio* is the processor time of the command (*ours*) over that of a Hydra app with one "
        "key in its config (*theirs*), with the same plugins installed.",
        startup.startup,
    ),
    "sweep": Section(
        "Sweeps",
        "*Ratio* is the wall time of `python -m pipeline.run -m …` with MLflow tracking (*ours*) "
        "over that of a plain Python loop around `simulate` with as many joblib workers "
        "(*theirs*), both as whole commands with the kernels in the cache; both find the same "
        "losses.",
        sweeps.sweeps,
    ),
    "job": Section(
        "A job more",
        "*Ratio* is no ratio here, but the seconds of processor time that one more job of a sweep "
        "costs beyond one more turn of the plain loop: composing, files and MLflow, "
        "imports and start-up left out.",
        sweeps.further_job,
    ),
    "memory": Section(
        "Memory",
        "*Ratio* is the peak resident memory with many lanes over that with few: what a lane works "
        "with is gone when it ends.",
        memory.memory,
    ),
    "csv": Section(
        "Own tables",
        "*Ratio* is the wall time of `load_file`, which reads a CSV, infers the kinds of its "
        "columns and encodes them (*ours*), over that of `pandas.read_csv`, standardising and "
        "`get_dummies` (*theirs*).",
        own_tables.own_tables,
    ),
    "rounds": Section(
        "Rounds",
        "*Ratio* is the cost of a round in a long stream over that in a short one: 1 when the cost "
        "grows linearly.",
        scaling.rounds,
    ),
    "sgd": Section(
        "SGD, cost of a round",
        "Time of a round, decision and label, of `sgd` (*ours*: O(d)) and of `ours` (*theirs*: "
        "O(d²)) in the streaming learner, linear link, one thread, every row accepted, after a "
        "warm start of 2d rows (2,000 at most) that does not count. Both carry some 0.2 ms of "
        "Python a round, which hides the order at small d. "
        f"Beyond d = {sgd.LARGEST:,} `ours` is not measured but extrapolated by d². The last row "
        "compares `sgd` with itself: at most the factor in d where the cost is O(d).",
        sgd.sgd,
    ),
    "layout": Section(
        "Layout of the rows",
        "Time of the seven methods in the sparse layout (*ours*) and the dense one (*theirs*), "
        "122 columns, non-zeros at random places: where the ratio falls below 1 "
        "dense is faster. `SPARSE_DENSITY` in `pipeline/core/kernels/rows.py` stands on this.",
        scaling.layout,
    ),
}


def measure(names: Sequence[str], sizes: Sizes) -> Report:
    """Run sections, all of them on one BLAS thread, and print rows as they come."""
    for package in PACKAGES:
        package.available()  # loads its BLAS, so that the limit below reaches it
    rows: dict[Section, list[Row]] = {}
    with threadpool_limits(limits=1):
        for name in names:
            section, start = SECTIONS[name], perf_counter()
            print(f"{section.title} ...", flush=True)
            rows[section] = []
            for row in section.measure(sizes):
                print_row(row)
                rows[section].append(row)
            print(f"  ({perf_counter() - start:.0f} s)", flush=True)
    return Report(ABOUT, machine.describe(), rows)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; a partial run is not saved unless told where."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="toy sizes, under a minute")
    parser.add_argument("--repeats", type=int, help="turns of what is compared (default: 3)")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="sections to run")
    parser.add_argument(
        *("--output", "-o"),
        nargs="*",
        type=Path,
        help="files to write, .md or .csv (default of a full run: docs/benchmarks.md and "
        "outputs/benchmarks.csv; of any other: none)",
    )
    options = parser.parse_args(arguments)
    if options.output is None:
        options.output = [] if options.quick or options.only else OUTPUTS
    for path in options.output:
        if path.suffix not in WRITERS:
            parser.error(f"{path}: the name must end in {' or '.join(WRITERS)}")
    return options


def main(arguments: Sequence[str] | None = None) -> Report:
    """Run what the command line asks for, print the report and save it."""
    options = parse(arguments)
    sizes = QUICK if options.quick else FULL
    if options.repeats:
        sizes = replace(sizes, repeats=options.repeats)
    report = measure(options.only or list(SECTIONS), sizes)
    print(f"\n{as_markdown(report)}")
    for path in options.output:
        save(path, WRITERS[path.suffix](report))
    return report


if __name__ == "__main__":
    main()
