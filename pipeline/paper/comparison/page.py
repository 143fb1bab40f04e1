"""The comparison on one page, with its tables as CSV beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline.files import write_csv, write_text
from pipeline.paper.collection import fill_commands
from pipeline.paper.comparison import agreement
from pipeline.paper.comparison.compare import DIFFERS_UP_TO, PAPER_SPLITS, UNJUDGED, Comparison
from pipeline.paper.comparison.picture import verdict_figure
from pipeline.paper.published import KEY, findings, published
from pipeline.view.figure import save
from pipeline.view.names import cutoff_name, dataset_name, method_name, or_dash, row_name
from pipeline.view.page import Block, Commands, Heading, Items, Page, Picture, Text, TextTable

LARGEST = 15  # differences that the page lists
DIFFERENCES = {
    "row": "{row}", "method": "{method}", "here": "{loss:.2f}", "± s.e.": "{error:.2f}",
    "paper": "{paper:.2f}", "ratio": "{ratio:.2f}", "z": "{z:+.1f}",
}  # fmt: skip
AGAINST_GREEDY = {"link": "{link}", "method": "{method}"} | {
    f"{sign}, {side}": f"{{{sign}_{side}}}"
    for sign, side in product(agreement.SIGNS, ("here", "paper"))
}
WORDS = ("link", "dataset", "method", "row", "bold", "least", "least here")
SUMMARY = {
    "agree": "{agrees}",
    "differ": "{differs}",
    "strongly": "{strongly_differs}",
    "missing": "{missing}",
    "share": "{share_agrees:.1%}",
    "ratio": "{ratio:.3f}",
    "rms z": "{rms_z:.2f}",
    "rank corr.": "{rank_correlation:.2f}",
    "wins": "{wins} of {rows}",
    "paper's wins": "{wins_paper}",
}


def write_comparison(comparison: Comparison, folder: Path, protocol: str) -> list[str]:
    """Write page, picture and tables; return the commands that fill the gaps."""
    frames = {
        "comparison": comparison.cells,
        "rows": comparison.rows,
        "summary_by_link": agreement.summaries(comparison),
        "summary_by_dataset": agreement.summaries(comparison, "dataset"),
        "summary_by_method": agreement.summaries(comparison, "method"),
        "against_greedy": agreement.against_greedy(comparison),
    }
    for name, frame in frames.items():
        write_csv(folder / f"{name}.csv", frame, missing="missing")
    gaps = comparison.cells[comparison.cells["loss"].isna()].assign(protocol=protocol)
    commands = fill_commands(gaps.to_dict("records"))
    save(verdict_figure(comparison), folder / "comparison.png")
    write_text(folder / "comparison.md", page(comparison, protocol, commands).markdown())
    return commands


def headline(comparison: Comparison) -> Iterator[str]:
    """Yield the verdict in a few sentences."""
    total = agreement.pool(comparison)
    if not total["judged"]:
        yield f"None of the {total['cells']:,} published figures can be judged yet."
        return
    yield (
        f"{total['agrees']:,} of {total['judged']:,} figures agree with the paper "
        f"({percent(total['share_agrees'])}), {total['differs']:,} differ, "
        f"{total['strongly_differs']:,} strongly."
    )
    low, high = agreement.share_interval(comparison)
    chance = percent(agreement.share_by_chance(comparison))
    yield (
        f"If nothing but the draw of the splits differed, {chance} would be expected to agree. The "
        "tables of a dataset agree or differ together: drawn again, they would give "
        f"{percent(low)} to {percent(high)}."
    )
    links = agreement.summaries(comparison)
    ratios = [f"{r:.3f} ({link})" for link, r in zip(links["link"], links["ratio"], strict=True)]
    yield f"Geometric mean of paper / here: {', '.join(ratios)}."
    yield (
        f"`ours` has the least loss in {total['wins']} of {total['rows']} rows here, in "
        f"{total['wins_paper']} in the paper."
    )
    if total["missing"]:
        yield f"{total['missing']:,} of {total['cells']:,} cells are missing."


def page(comparison: Comparison, protocol: str, commands: Sequence[str] = ()) -> Page:
    """Return the page."""
    datasets, methods = (agreement.summaries(comparison, name) for name in ("dataset", "method"))
    blocks: list[Block] = [
        Text(f"Protocol `{protocol}`."),
        Items(list(headline(comparison))),
        Picture("z of every published figure", "comparison.png"),
        Text("\n".join(_reading(comparison))),
        Heading("By link"),
        summary_table(agreement.summaries(comparison)),
        Heading("By dataset"),
        summary_table(datasets[datasets["link"] != agreement.BOTH]),
        Heading("By method"),
        Text("Wins are the method's own."),
        summary_table(methods[methods["link"] != agreement.BOTH]),
        Heading("Greedy as the yardstick"),
        Text("Rows in which a method's loss is above, equal to or below that of greedy."),
        TextTable.of(AGAINST_GREEDY, _named(agreement.against_greedy(comparison)), WORDS),
        Heading("Largest differences"),
        _largest_table(comparison.cells),
        Heading("Misprints"),
        Text("Rows whose bold figure is not the least."),
        _misprint_table(comparison),
        _finding_items(comparison, "misprint"),
        Heading("Not explained"),
        _finding_items(comparison, "unexplained"),
        Heading("Cautions"),
        _finding_items(comparison, "caution"),
    ]
    blocks += [Heading("Missing cells"), Commands(commands)] if commands else []
    return Page("The paper's figures beside ours", blocks)


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


def summary_table(frame: pd.DataFrame) -> TextTable:
    """Return a summary; what a frame lacks is left out."""
    labels = [name for name in ("protocol", "link", "dataset", "method") if name in frame]
    columns = {name: f"{{{name}}}" for name in labels} | SUMMARY
    if "rank_correlation" not in frame:
        del columns["rank corr."]
    return TextTable.of(columns, _named(frame), WORDS)


def _largest_table(cells: pd.DataFrame) -> TextTable:
    order = cells["z"].abs().dropna().sort_values(ascending=False, kind="stable").index[:LARGEST]
    largest = cells.loc[order]
    rows = largest.assign(
        row=[row_name(*labels) for labels in largest[KEY].itertuples(index=False)],
        error=largest["standard_deviation"] / np.sqrt(largest["n_splits"]),
    )
    return TextTable.of(DIFFERENCES, _named(rows), WORDS)


def _misprint_table(comparison: Comparison) -> TextTable:
    rows = []
    for row, ours in zip(published(), comparison.rows["best"], strict=True):
        if row.misprinted:
            names = [", ".join(map(method_name, best)) for best in (row.best, ours.split())]
            figures = [f"{row.loss[method]:.2f}" for method in (row.bold, row.best[0])]
            bold = [method_name(row.bold), figures[0]]
            rows.append([row_name(*row.key), *bold, names[0], figures[1], names[1]])
    return TextTable(["row", "bold", "its loss", "least", "its loss", "least here"], rows, WORDS)


def finding_texts(comparison: Comparison, kind: str) -> list[tuple[str, str]]:
    """Return what is known of one kind: what each finding is about, if not all, and its text.

    Where it is about certain datasets or cutoffs, the text says how their cells stand now.
    """
    texts = []
    for finding in (one for one in findings() if one.kind == kind):
        links, datasets, cutoffs = finding.about.values()
        scope = ", ".join([*links, *map(dataset_name, datasets), *map(cutoff_name, cutoffs)])
        text = finding.finding
        if datasets or cutoffs:
            now = agreement.pool(comparison.of(**finding.about))
            ratio = or_dash(now["ratio"], "{:.2f}")
            text += f" Now {now['agrees']} of {now['judged']} figures agree; ratio {ratio}."
        texts.append((scope, text))
    return texts


def _finding_items(comparison: Comparison, kind: str) -> Items:
    texts = finding_texts(comparison, kind)
    return Items([f"**{scope}**: {text}" if scope else text for scope, text in texts])


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with the names of datasets and methods that people know."""
    names = {"dataset": dataset_name, "method": method_name}
    shown = {label: frame[label].map(name) for label, name in names.items() if label in frame}
    return frame.assign(**shown)


def percent(share: float) -> str:
    """Return a share as "92.1%"; a dash where there is none."""
    return or_dash(share, "{:.1%}")
