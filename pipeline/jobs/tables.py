"""The tables a sweep ends with: the loss of each method, and who bears it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.jobs.layout import Label, Sheet, column_text, row_text
from pipeline.jobs.lines import BOLD, PLAIN, alpha_text, loss_text
from pipeline.jobs.seeds import Figures, figures_of, rates_of
from pipeline.results.groups import GroupRates
from pipeline.terminal import printable

ByGroup = dict[Label, dict[str, GroupRates]]  # by column, then by group
LABEL, WIDTH = 12, 16  # letters of a row's name, of a figure
GROUP, TRIPLE = 22, 25  # of a group's name, of its three figures
LONGEST_GROUP = 40
SHOWN_GROUPS, MOST_ROWS, MOST_GROUP_TABLES = 12, 40, 10


@dataclass(frozen=True)
class Line:
    """A line of a table: its name, a text for each column, and which of them are the best."""

    name: str
    texts: Sequence[str]
    best: Sequence[int] = ()


def loss_table(sheet: Sheet, bold: bool) -> Iterator[str]:
    """Yield the table of one dataset and link."""
    protocol, dataset, link = sheet.block
    over = f", mean over {sheet.over}" if sheet.averaged else f" over {sheet.over}"
    yield f"{dataset}, {link} link, protocol {protocol}: loss ± standard error{over}"
    lines = [Line("", [column_text(column) for column in sheet.columns])]
    for row in sheet.rows[:MOST_ROWS]:
        jobs = [sheet.places.get((row, column)) for column in sheet.columns]
        lines += _row(row, [None if some is None else figures_of(some) for some in jobs])
    yield from _aligned(lines, LABEL, WIDTH, bold)
    if len(sheet.rows) > MOST_ROWS:
        yield f"and {len(sheet.rows) - MOST_ROWS} rows more: see the numbers in summary.csv"


def group_tables(sheet: Sheet) -> Iterator[str]:
    """Yield loss, acceptance and missed-positive rate of each group, where groups are named.

    Columns with the same groups share a table: a sweep may vary what the groups are.
    """
    tables = [(row, found) for row in sheet.rows for found in _by_groups(sheet, row)]
    for row, found in tables[:MOST_GROUP_TABLES]:
        yield f"by group, {row_text(row)}: loss / rows accepted / missed of those truly above"
        yield from _group_table(found)
    if len(tables) > MOST_GROUP_TABLES:
        yield f"by group, {len(tables) - MOST_GROUP_TABLES} tables more: see groups.parquet"


def _by_groups(sheet: Sheet, row: Label) -> list[ByGroup]:
    """Return the rates of each column, those with the same groups together."""
    found: dict[frozenset[str], ByGroup] = {}
    for column in sheet.columns:
        rates = {one.group: one for one in rates_of(sheet.places.get((row, column), ()))}
        if rates:
            found.setdefault(frozenset(rates), {})[column] = rates
    return list(found.values())


def _row(row: Label, figures: Sequence[Figures | None]) -> Iterator[Line]:
    losses = [float("inf") if one is None else one.loss for one in figures]
    texts = ["missing" if f is None else loss_text(f.loss, f.standard_error) for f in figures]
    best = [place for place, loss in enumerate(losses) if loss == min(losses)]
    yield Line(row_text(row), texts, best)
    yield Line("  alpha", ["" if one is None else _alphas(one.alphas) for one in figures])


def _alphas(alphas: Sequence[float]) -> str:
    """Return the alpha, or the least and the largest where seeds have different ones."""
    return " … ".join(alpha_text(alpha) for alpha in dict.fromkeys((alphas[0], alphas[-1])))


def _group_table(found: ByGroup) -> Iterator[str]:
    first = next(iter(found.values()))
    groups = sorted(first, key=lambda group: -first[group].rows)
    lines = [Line("", [column_text(column) for column in found])]
    for group in groups[:SHOWN_GROUPS]:
        name = group if len(group) <= LONGEST_GROUP else f"{group[: LONGEST_GROUP - 1]}…"
        lines.append(
            Line(f"  {printable(name)}", [_triple(rates[group]) for rates in found.values()])
        )
    yield from _aligned(lines, GROUP, TRIPLE, bold=False)
    if len(groups) > SHOWN_GROUPS:
        yield f"  and {len(groups) - SHOWN_GROUPS} smaller groups, see groups.parquet"


def _aligned(lines: Sequence[Line], label: int, width: int, bold: bool) -> Iterator[str]:
    """Yield lines in columns of the same width: that given, or more where a text needs it."""
    label = max(label, *(len(line.name) + 1 for line in lines))
    width = max(width, *(len(text) + 2 for line in lines for text in line.texts))
    for line in lines:
        texts = [f"{text:>{width}}" for text in line.texts]
        for place in line.best if bold else ():
            texts[place] = f"{BOLD}{texts[place]}{PLAIN}"
        yield f"{line.name:{label}}" + "".join(texts)


def _triple(rates: GroupRates) -> str:
    return f"{rates.loss:.2f} / {_percent(rates.accepted_rate)} / {_percent(rates.missed_rate)}"


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.1%}"
