"""A full-size report of made-up results, with the files that its figures are checked against."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.paper.__main__ import main
from pipeline.paper.collection import Collection
from tests.paper.made_up_collection import near_the_paper, without
from tests.paper.made_up_paper import full_collection, part_of
from tests.paper.report.test_theory_pages import write_theory

MISSING = {"dataset": "churn", "link": "linear", "cutoff": "0.5", "method": "noise"}
FAILED = {"dataset": "bank", "link": "linear", "cutoff": "0.7", "method": "ours"}
REASON = "</script><img src=x onerror=alert(1)>"
RUN = "runs/inferred/adult/linear/0.5/greedy/abcdef012345"


@dataclass(frozen=True)
class Made:
    """A report and what it was made of."""

    page: Path
    collection: Collection
    folder: Path


def make_report(folder: Path) -> Made:
    """Write collections, tables, comparison, hindsight and the report, all by their commands."""
    full = full_collection()
    collection = _with_gaps(part_of(full, range(10)))
    collection.write(folder / "collection")
    part_of(full, range(10, 20)).write(folder / "fresh")
    near_the_paper(keep=lambda row: row.in_text, protocol="stated").write(folder / "stated")
    run = folder / "outputs" / RUN
    run.mkdir(parents=True)
    (run / "config.yaml").write_text("config: {link: linear}\n")
    (run / "environment.json").write_text('{"commit": "c0ffee", "packages": {"numpy": "2.1"}}')
    _run(folder, "tables")
    _run(folder, "compare")
    _run(folder, "hindsight", "--fresh", folder / "fresh")
    _run(
        *(folder, "report", "--stated", folder / "stated", "--hindsight", folder / "hindsight"),
        *("--theory", write_theory(folder / "theory"), "--outputs", folder / "outputs"),
    )
    return Made(folder / "report" / "index.html", collection, folder)


def _with_gaps(whole: Collection) -> Collection:
    gaps = without(without(whole, **MISSING), "failed", **FAILED)
    cells = gaps.cells.copy()
    cells.loc[cells["state"] == "failed", "reason"] = REASON
    first = (cells["dataset"] == "adult") & (cells["method"] == "greedy")
    cells.loc[first & (cells["link"] == "linear") & (cells["cutoff"] == "0.5"), "folder"] = RUN
    return Collection(cells, gaps.losses, gaps.curves)


def _run(folder: Path, command: str, *more: object) -> None:
    given = ("--collection", folder / "collection", "--out", folder / command, *more)
    assert main([command, *map(str, given)]) == 0
