"""Try other readings of the paper against its figures: ``python scripts/forensics.py``.

Every config of ``conf/candidate`` is a reading of its own. Each is screened (``experiment=screen``:
few cutoffs and splits) beside the protocol as it stands; where z cannot be trusted, on small
datasets, the paper's figure is held against means of ten splits drawn out of a hundred
(``experiment=heavy_tails``). Those that came out ahead are run in full on other splits
(``experiment=finalist``). Run folders are kept: a second call computes only what is new. Of
``dvc repro``'s linear results it asks where the grid of alphas must end for ε-greedy. Writes
screen.csv, heavy_tails.csv, finalists.csv, grid_edges.csv and evidence.md to ``--out``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.files import replacing
from pipeline.paper.collection import Collection
from pipeline.paper.comparison.agreement import pool
from pipeline.paper.comparison.compare import PAPER_SPLITS, compare
from pipeline.paper.published import Setting, published

ROOT = Path(__file__).resolve().parents[1]
AS_IT_STANDS = "as it stands"
LINKS = ("linear", "logistic")
HEAVY = "intercept", AS_IT_STANDS  # readings that matter for the small datasets
FINALISTS = {
    "linear": (AS_IT_STANDS, "linear_start_25"),
    "logistic": (AS_IT_STANDS, "logistic_intercept_free"),
}
# Adult and Bank are five sixths of the time of a logistic run.
WITHOUT_THE_LARGEST = "dataset=compas,crime,german,blood,diabetes,eeg_eye,australian,churn"
FINAL_OVERRIDES = {"linear": [], "logistic": [WITHOUT_THE_LARGEST]}
DRAWS = 20_000
GRID_EDGES = (-10, -9, -8, -7)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every candidate and write the evidence."""
    parser = argparse.ArgumentParser(description="Try other readings of the paper.")
    parser.add_argument("--out", type=Path, default=ROOT / "outputs" / "paper" / "forensics")
    parser.add_argument("--gathered", type=Path, default=ROOT / "outputs" / "forensics")
    parser.add_argument("--linear", type=Path, default=ROOT / "outputs" / "paper" / "linear")
    parser.add_argument("--only", nargs="+", help="candidates; by default all of conf/candidate")
    parser.add_argument("overrides", nargs="*", help="as for python -m pipeline.run, to all runs")
    options = parser.parse_intermixed_args(arguments)
    screened: list[dict[str, Any]] = []
    heavy: list[dict[str, Any]] = []
    for link, name in readings(options.only):
        print(f"{link}: {name}", flush=True)
        gathered = options.gathered / link / name.replace(" ", "_")
        screened += judge(run("screen", link, name, gathered, options.overrides), link, name)
        if any(part in name for part in HEAVY):
            found = run("heavy_tails", link, name, Path(f"{gathered}_100"), options.overrides)
            heavy += chances(found, link, name)
    evidence = {
        "screen": pd.DataFrame(screened),
        "heavy_tails": pd.DataFrame(heavy),
        "finalists": pd.DataFrame(finalists(options)),
        "grid_edges": pd.DataFrame(grid_edges(Collection.read(options.linear))),
    }
    write(options.out, evidence)
    print(f"evidence: {options.out / 'evidence.md'}")
    return 0


def readings(only: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    """Yield link and name of each reading, the protocol as it stands first."""
    names = sorted(path.stem for path in (ROOT / "conf" / "candidate").glob("*.yaml"))
    for link in LINKS:
        yield link, AS_IT_STANDS
        for name in names:
            if name.startswith(link) and (only is None or name in only):
                yield link, name


def finalists(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Run the readings that came out ahead in full, and yield their agreement."""
    for link, names in FINALISTS.items():
        for name in names:
            if options.only is None or name in options.only:
                print(f"{link}: {name}, in full", flush=True)
                gathered = options.gathered / link / f"{name.replace(' ', '_')}_full"
                overrides = [*FINAL_OVERRIDES[link], *options.overrides]
                yield from judge(run("finalist", link, name, gathered, overrides), link, name)


def run(experiment: str, link: str, name: str, out: Path, overrides: Sequence[str]) -> Collection:
    """Compute what is missing of an experiment under a reading, and return its results."""
    candidate = [] if name == AS_IT_STANDS else [f"candidate={name}"]
    command = [sys.executable, "-m", "pipeline.reproduce", f"experiment={experiment}"]
    command += [f"link={link}", *candidate, *overrides, "tracking=none", "--out", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
    return Collection.read(out)


def judge(found: Collection, link: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield the agreement of all datasets, and of each, with the paper."""
    comparison = compare(found).of(link=link)
    datasets = list(dict.fromkeys(found.cells["dataset"]))
    for dataset in ["all", *datasets]:
        part = comparison if dataset == "all" else comparison.of(dataset=dataset)
        summary = pool(part)
        figures = {key: summary[key] for key in ("judged", "share_agrees", "ratio", "rms_z")}
        yield {"link": link, "reading": name, "dataset": dataset, **figures}


def chances(found: Collection, link: str, name: str) -> Iterator[dict[str, Any]]:
    """Yield how likely means of ten splits are as far out as the paper's figure."""
    paper = {row.key: row.loss for row in published()}
    for labels, part in found.losses.groupby(["dataset", "cutoff", "method"], sort=False):
        dataset, cutoff, method = map(str, labels)
        losses = part.pivot_table(index="split", columns="alpha", values="loss").to_numpy()
        figure = paper[Setting(link, dataset, cutoff)][method]
        yield {
            "link": link, "reading": name, "dataset": dataset, "cutoff": cutoff,
            "method": method, "paper": figure, "p": tail_probability(losses, figure),
        }  # fmt: skip


def grid_edges(found: Collection) -> Iterator[dict[str, Any]]:
    """Yield in how many rows ε-greedy and its one-sided kin lie above greedy, or tie with it.

    In the paper, and here for grids of alpha that end at other powers of two. Figures are compared
    as the paper prints them, with two digits.
    """
    means = found.losses.groupby(["dataset", "cutoff", "method", "alpha"])["loss"].mean()
    for method in ("eps_greedy", "os_eps_greedy"):
        paper = [row for row in published() if row.key[0] == "linear"]
        printed = np.array([[row.loss[method], row.loss["greedy"]] for row in paper])
        yield {"method": method, "grid": "of the paper", **_above(*printed.T)}
        for exponent in GRID_EDGES:
            ours = means.xs(method, level="method")
            ours = ours[ours.index.get_level_values("alpha") >= 2.0**exponent]
            least = ours.groupby(["dataset", "cutoff"]).min()
            greedy = means.xs("greedy", level="method").groupby(["dataset", "cutoff"]).min()
            found_here = _above(least.round(2).to_numpy(), greedy.round(2).to_numpy())
            yield {"method": method, "grid": f"from 2^{exponent}", **found_here}


def _above(losses: NDArray[np.float64], greedy: NDArray[np.float64]) -> dict[str, int]:
    return {"above": int(np.sum(losses > greedy)), "equal": int(np.sum(losses == greedy))}


def tail_probability(losses: NDArray[np.float64], figure: float, seed: int = 0) -> float:
    """Return twice the smaller share of drawn figures at or beyond a published one, at most 1.

    A drawn figure is made as the paper's: ten splits, the least mean over alphas.

    Args:
        losses: a row for each split, a column for each alpha.
        figure: what the paper prints.
        seed: of the draws.
    """
    generator = np.random.default_rng(seed)
    order = np.argsort(generator.random((DRAWS, len(losses))), axis=1)
    drawn = losses[order[:, :PAPER_SPLITS]].mean(axis=1).min(axis=1)
    below, above = float(np.mean(drawn <= figure)), float(np.mean(drawn >= figure))
    return min(1.0, 2.0 * min(below, above))


def write(out: Path, evidence: Mapping[str, pd.DataFrame]) -> None:
    """Write the tables, and a page of them."""
    screened, heavy = evidence["screen"], evidence["heavy_tails"]
    parts = ["# Evidence", "Written by `scripts/forensics.py`; read with docs/forensics.md."]
    for link in LINKS:
        whole = screened[(screened["link"] == link) & (screened["dataset"] == "all")]
        rms = screened[screened["link"] == link].pivot_table(
            index="reading", columns="dataset", values="rms_z", sort=False
        )
        parts.append(f"## {link}: the screen")
        parts.append(_table(whole.drop(columns=["link", "dataset"])))
        parts.append("Root mean square of z by dataset:")
        parts.append(_table(rms.drop(columns="all").reset_index()))
    if len(heavy):
        parts.append("## A hundred splits: chances")
        parts.append(
            "How many of the figures have a probability below 5% and 1% to lie as far out."
        )
        counts = heavy.groupby(["link", "reading", "dataset"], sort=False)["p"]
        parts.append(
            _table(
                counts.agg(
                    figures="size",
                    below_5=lambda p: int((p < 0.05).sum()),
                    below_1=lambda p: int((p < 0.01).sum()),
                    least="min",
                ).reset_index()
            )
        )
    if len(evidence["finalists"]):
        parts.append("## In full, on ten splits that nothing else uses")
        parts.append(_table(evidence["finalists"]))
    parts.append("## Linear: ε-greedy against greedy")
    parts.append("In how many of 100 rows a method lies above greedy, or ties with it.")
    parts.append(_table(evidence["grid_edges"]))
    for name, frame in evidence.items():
        with replacing(out / f"{name}.csv") as partial:
            frame.to_csv(partial, index=False, lineterminator="\n", float_format="%.6g")
    with replacing(out / "evidence.md") as partial:
        partial.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _table(frame: pd.DataFrame) -> str:
    lines = [list(frame.columns), ["---" for _ in frame.columns]]
    lines += [[_text(value) for value in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
