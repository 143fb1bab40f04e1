"""The comparison on one page, with its tables as CSV beside it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.files import replacing
from pipeline.paper.agreement import (
    BOTH,
    against_greedy,
    by_dataset,
    by_link,
    by_method,
    pool,
    share_by_chance,
    share_interval,
)
from pipeline.paper.collection import Collection
from pipeline.paper.compare import (
    DIFFERS_UP_TO,
    KEY,
    PAPER_SPLITS,
    UNJUDGED,
    Comparison,
    compare,
)
from pipeline.paper.findings import Finding, findings
from pipeline.paper.gaps import fill_commands
from pipeline.paper.published import published
from pipeline.paper.verdict_figure import draw_verdict
from pipeline.results.files import write_text
from pipeline.view.names import cutoff_name, dataset_name, method_name, row_name
from pipeline.view.page import markdown_line

LARGEST = 15  # differences that the page lists
NONE = "–"


def write_comparison(comparison: Comparison, folder: Path, protocol: str) -> list[str]:
    """Write page, picture and tables; return the commands that fill the gaps."""
    frames = {
        "comparison": comparison.cells,
        "rows": comparison.rows,
        "summary_by_link": by_link(comparison),
        "summary_by_dataset": by_dataset(comparison),
        "summary_by_method": by_method(comparison),
        "against_greedy": against_greedy(comparison),
    }
    for name, frame in frames.items():
        _write_csv(frame, folder / f"{name}.csv")
    gaps = comparison.cells[comparison.cells["loss"].isna()].assign(protocol=protocol)
    commands = fill_commands(gaps.to_dict("records"))
    draw_verdict(comparison, folder / "comparison.png")
    write_text(folder / "comparison.md", "\n".join(page(comparison, protocol, commands)) + "\n")
    return commands


def command(collection: Collection, options: argparse.Namespace) -> Iterable[str]:
    """Compare collected results with the paper's figures."""
    comparison = compare(collection)
    (protocol,) = collection.protocols
    commands = write_comparison(comparison, options.out, protocol)
    yield from headline(comparison)
    yield f"comparison: {options.out}"
    if commands:
        yield "cells are missing; to fill them:"
        yield from (f"  {line}" for line in commands)


def headline(comparison: Comparison) -> Iterator[str]:
    """Yield the verdict in a few sentences."""
    total = pool(comparison)
    if not total["judged"]:
        yield f"None of the {total['cells']:,} published figures can be judged yet."
        return
    yield (
        f"{total['agrees']:,} of {total['judged']:,} figures agree with the paper "
        f"({percent(total['share_agrees'])}), {total['differs']:,} differ, "
        f"{total['strongly_differs']:,} strongly."
    )
    low, high = share_interval(comparison)
    yield (
        "If nothing but the draw of the splits differed, "
        f"{percent(share_by_chance(comparison))} would be expected to agree. The tables of a "
        f"dataset agree or differ together: drawn again, they would give {percent(low)} to "
        f"{percent(high)}."
    )
    ratios = [f"{line['ratio']:.3f} ({line['link']})" for line in _records(by_link(comparison))]
    yield f"Geometric mean of paper / here: {', '.join(ratios)}."
    yield (
        f"`ours` has the least loss in {total['wins']} of {total['rows']} rows here, in "
        f"{total['wins_paper']} in the paper."
    )
    if total["missing"]:
        yield f"{total['missing']:,} of {total['cells']:,} cells are missing."


def page(comparison: Comparison, protocol: str, commands: Iterable[str] = ()) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from ["# The paper's figures beside ours", "", f"Protocol `{protocol}`.", ""]
    yield from (f"- {line}" for line in headline(comparison))
    yield from ["", "![z of every published figure](comparison.png)", "", *_reading(comparison)]
    yield from _section("By link", _summary_lines(by_link(comparison)))
    datasets, methods = by_dataset(comparison), by_method(comparison)
    yield from _section("By dataset", _summary_lines(datasets[datasets["link"] != BOTH]))
    yield from _section(
        "By method", _summary_lines(methods[methods["link"] != BOTH]), "Wins are the method's own."
    )
    yield from _section(
        "Greedy as the yardstick",
        _greedy_lines(against_greedy(comparison)),
        "Rows in which a method's loss is above, equal to or below that of greedy.",
    )
    yield from _section("Largest differences", _largest_lines(comparison.cells))
    yield from _section(
        "Misprints",
        _misprint_lines(comparison),
        "Rows whose bold figure is not the least.",
        _finding_lines(comparison, "misprint"),
    )
    yield from _section("Not explained", _finding_lines(comparison, "unexplained"))
    yield from _section("Cautions", _finding_lines(comparison, "caution"))
    commands = list(commands)
    if commands:
        yield from _section("Missing cells", ["```sh", *commands, "```"])


def _reading(comparison: Comparison) -> Iterator[str]:
    n = comparison.cells["n_splits"].dropna().unique()
    splits = f"{n[0]:g}" if len(n) == 1 else "n"
    yield (
        f"z = (paper − here) / (sd·sqrt(1/{PAPER_SPLITS} + 1/{splits})), sd over our splits under "
        f"the tuned alpha. A figure agrees where |z| < 2, differs up to {DIFFERS_UP_TO:g}, "
        "strongly differs beyond. Ratios are paper / here. Cells of a dataset share their splits, "
        "so their verdicts are not independent. Rank correlation is Spearman's, of the seven "
        "methods within a row, averaged over rows. A win is the least loss of a row at the "
        "paper's two digits, ties included; rows with a missing cell are not counted on either "
        "side."
    )
    unjudged = int((comparison.cells["verdict"] == UNJUDGED).sum())
    if unjudged:
        yield f"{unjudged:,} cells have one split only and cannot be judged."


def _section(title: str, lines: Iterable[str], *more: str | Iterable[str]) -> Iterator[str]:
    """Yield a section: an introduction if there is one, lines, and what follows them."""
    yield from ["", f"## {title}", ""]
    for text in more:
        if isinstance(text, str):
            yield from [text, ""]
    yield from lines
    for text in more:
        if not isinstance(text, str):
            yield from ["", *text]


def summary_table(frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the lines of a summary; what a frame lacks is left out."""
    labels = [name for name in ("link", "dataset", "method") if name in frame]
    ranked = "rank_correlation" in frame
    heads = [*labels, "agree", "differ", "strongly", "missing", "share", "ratio", "rms z"]
    heads += [*(["rank corr."] if ranked else []), "wins", "paper's wins"]
    lines = []
    for line in _records(frame):
        figures = [str(line[name]) for name in ("agrees", "differs", "strongly_differs", "missing")]
        figures += [percent(line["share_agrees"]), number(line["ratio"], 3)]
        figures += [number(line["rms_z"], 2)]
        figures += [number(line["rank_correlation"], 2)] if ranked else []
        figures += [f"{line['wins']} of {line['rows']}", str(line["wins_paper"])]
        lines.append([*(_label(name, line[name]) for name in labels), *figures])
    return heads, lines


def _summary_lines(frame: pd.DataFrame) -> Iterator[str]:
    heads, lines = summary_table(frame)
    yield from _table_head(heads)
    yield from map(markdown_line, lines)


def _greedy_lines(frame: pd.DataFrame) -> Iterator[str]:
    sides = [f"{name}_{side}" for name in ("above", "equal", "below") for side in ("here", "paper")]
    yield from _table_head(["link", "method", *(side.replace("_", ", ") for side in sides)])
    for line in _records(frame):
        counts = [str(line[side]) for side in sides]
        yield markdown_line([line["link"], method_name(line["method"]), *counts])


def _largest_lines(cells: pd.DataFrame) -> Iterator[str]:
    judged = cells[cells["z"].notna()]
    order = judged["z"].abs().sort_values(ascending=False, kind="stable").index[:LARGEST]
    yield from _table_head(["row", "method", "here", "± s.e.", "paper", "ratio", "z"])
    for cell in _records(judged.loc[order]):
        error = cell["standard_deviation"] / np.sqrt(cell["n_splits"])
        figures = [cell["loss"], error, cell["paper"], cell["ratio"]]
        texts = [*(number(value, 2) for value in figures), f"{cell['z']:+.1f}"]
        yield markdown_line([_row_name(cell), method_name(cell["method"]), *texts])


def _misprint_lines(comparison: Comparison) -> Iterator[str]:
    here = {tuple(row[name] for name in KEY): row["best"] for row in _records(comparison.rows)}
    yield from _table_head(["row", "bold", "its loss", "least", "its loss", "least here"])
    for row in published():
        if row.misprinted and row.key in here:
            best = [method_name(method) for method in row.best]
            least = f"{row.loss[row.best[0]]:.2f}"
            ours = ", ".join(method_name(method) for method in here[row.key].split())
            bold = [method_name(row.bold), f"{row.loss[row.bold]:.2f}"]
            yield markdown_line([row_name(*row.key), *bold, ", ".join(best), least, ours])


def finding_texts(comparison: Comparison, kind: str) -> list[tuple[str, str]]:
    """Return what is known of one kind: what each finding is about, if not all, and its text."""
    return [
        (_scope(finding), f"{finding.finding}{_evidence(finding, comparison)}")
        for finding in findings()
        if finding.kind == kind
    ]


def _finding_lines(comparison: Comparison, kind: str) -> list[str]:
    texts = finding_texts(comparison, kind)
    return [f"- **{scope}**: {text}" if scope else f"- {text}" for scope, text in texts]


def _scope(finding: Finding) -> str:
    names = [
        *finding.links,
        *map(dataset_name, finding.datasets),
        *map(cutoff_name, finding.cutoffs),
    ]
    return ", ".join(names)


def _evidence(finding: Finding, comparison: Comparison) -> str:
    """Return how the cells a finding is about stand now."""
    if not finding.is_local:
        return ""
    found = pool(finding.part(comparison))
    ratio = number(found["ratio"], 2)
    return f" Now {found['agrees']} of {found['judged']} figures agree; ratio {ratio}."


def _table_head(heads: list[str]) -> Iterator[str]:
    texts = ("link", "dataset", "method", "row", "bold", "least", "least here")
    yield markdown_line(heads)
    yield markdown_line(["---" if head in texts else "---:" for head in heads])


def _row_name(cell: dict[str, Any]) -> str:
    return row_name(*(cell[name] for name in KEY))


def _label(name: str, value: str) -> str:
    return {"dataset": dataset_name, "method": method_name}.get(name, str)(value)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return list(frame.to_dict("records"))


def percent(share: float) -> str:
    """Return a share as "92.1%"; a dash where there is none."""
    return NONE if np.isnan(share) else f"{share:.1%}"


def number(value: float, digits: int) -> str:
    """Return a number with so many digits; a dash where there is none."""
    return NONE if np.isnan(value) else f"{value:.{digits}f}"


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write figures with six digits; what is not there is called missing."""
    with replacing(path) as partial:
        frame.to_csv(
            partial, index=False, lineterminator="\n", float_format="%.6g", na_rep="missing"
        )
