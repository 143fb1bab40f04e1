"""How large everything is: the figures of a full run, and those of a toy run."""

from __future__ import annotations

from dataclasses import dataclass

ADULT_ROWS = 48_842


@dataclass(frozen=True)
class Sizes:
    """Sizes of one run; the defaults are the full ones.

    Attributes:
        repeats: how often things that are compared take turns.
        stream: T of the linear shapes.
        loop_rounds: rounds the numpy loop runs, each method.
        rival_rounds: rounds of river, mabwiser and Vowpal Wabbit.
        observed: rows of the Ridge refit.
        adult: rows of the one-hot table of Adult's shape.
        sampled_refits: refits at which scikit-learn's solvers are timed.
        batches: rows a round, logistic.
        thread_rounds: rows of the lanes that two threads share.
        rounds: the T of the scaling in rounds.
        memory_lanes: lanes of the two memory runs.
        densities: shares of non-zeros at which the layouts are compared.
        layout_rounds: T of that comparison.
        peak_seconds: how long each size of the matrix product is timed.
        cold: whether to compile into an empty cache.
        refit_rounds: rounds that are refitted, linear.
        refit_batches: the same, logistic.
        sweep_workers: workers of the sweeps.
        sweep_cutoffs: cutoffs of the Diabetes sweep, ten jobs each.
        sweep_table1: whether to sweep over Table 1 too.
        sweep_repeats: how often sweep and loop take turns.
        sgd_columns: d of the cost of a round of Algorithm 3.
        sgd_rounds: rounds it is measured over.
        csv_rows: rows of a table of one's own.
    """

    repeats: int = 3
    stream: int = 50_000
    loop_rounds: int = 20_000
    rival_rounds: int = 1_000
    observed: int = 12_000
    adult: int = ADULT_ROWS
    sampled_refits: int = 6
    batches: tuple[int, ...] = (1000, 100)
    thread_rounds: int = 10_000
    rounds: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    memory_lanes: tuple[int, int] = (67, 6_700)
    densities: tuple[float, ...] = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
    layout_rounds: int = 10_000
    peak_seconds: float = 0.3
    cold: bool = True
    refit_rounds: int = 2_000
    refit_batches: int = 1_000
    sweep_workers: tuple[int, ...] = (1, 2)
    sweep_cutoffs: int = 10
    sweep_table1: bool = True
    sweep_repeats: int = 3
    sgd_columns: tuple[int, ...] = (10, 100, 1_000, 10_000)
    sgd_rounds: int = 200
    csv_rows: int = 1_000_000


FULL = Sizes()
QUICK = Sizes(
    repeats=1,
    stream=1_000,
    loop_rounds=300,
    rival_rounds=30,
    observed=500,
    adult=3_000,
    sampled_refits=2,
    batches=(1000,),
    thread_rounds=1_000,
    rounds=(500, 1_000),
    memory_lanes=(67, 134),
    densities=(0.1, 0.5),
    layout_rounds=500,
    peak_seconds=0.05,
    cold=False,
    refit_rounds=20,
    refit_batches=2,
    sweep_workers=(1,),
    sweep_cutoffs=1,
    sweep_table1=False,
    sweep_repeats=1,
    sgd_columns=(10, 50),
    sgd_rounds=20,
    csv_rows=2_000,
)
