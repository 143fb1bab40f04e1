"""The tables a sweep ends with: the loss of each method, and who bears it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from pipeline.results.average import Figures, GroupRates, figures_of, rates_of
from pipeline.summary.layout import Label, Sheet, column_text, row_text
from pipeline.terminal import printable
from pipeline.view.names import NONE, alpha_text, loss_text
from pipeline.view.text_table import print_table

Rows = list[list[str | Text]]
ByGroup = dict[Label, dict[str, GroupRates]]  # by column, then by group
LABEL, WIDTH = 12, 16  # letters of a row's name, of a figure
GROUP, TRIPLE = 22, 25  # of a group's name, of its three figures
LONGEST_GROUP = 40
SHOWN_GROUPS, MOST_ROWS, MOST_GROUP_TABLES = 12, 40, 10


def print_losses(sheet: Sheet) -> None:
    """Print the table of one dataset and link, the least loss of each row in bold."""
    protocol, dataset, link = sheet.block
    over = f", mean over {sheet.over}" if sheet.averaged else f" over {sheet.over}"
    print(f"{dataset}, {link} link, protocol {protocol}: loss ± standard error{over}")
    rows: Rows = [["", *map(column_text, sheet.columns)]]
    for row in sheet.rows[:MOST_ROWS]:
        runs = [sheet.places.get((row, column)) for column in sheet.columns]
        rows += _rows(row, [None if some is None else figures_of(some) for some in runs])
    _print(rows, LABEL, WIDTH)
    if len(sheet.rows) > MOST_ROWS:
        print(f"and {len(sheet.rows) - MOST_ROWS} rows more: see the numbers in summary.csv")


def print_groups(sheet: Sheet) -> None:
    """Print loss, acceptance and missed-positive rate of each group, where groups are named.

    Columns with the same groups share a table: a sweep may vary what the groups are.
    """
    tables = [(row, found) for row in sheet.rows for found in _by_groups(sheet, row)]
    for row, found in tables[:MOST_GROUP_TABLES]:
        print(f"by group, {row_text(row)}: loss / rows accepted / missed of those truly above")
        _print_group_table(found)
    if len(tables) > MOST_GROUP_TABLES:
        print(f"by group, {len(tables) - MOST_GROUP_TABLES} tables more: see groups.parquet")


def _by_groups(sheet: Sheet, row: Label) -> list[ByGroup]:
    """Return the rates of each column, those with the same groups together."""
    found: dict[frozenset[str], ByGroup] = {}
    for column in sheet.columns:
        rates = {one.group: one for one in rates_of(sheet.places.get((row, column), ()))}
        if rates:
            found.setdefault(frozenset(rates), {})[column] = rates
    return list(found.values())


def _rows(row: Label, figures: Sequence[Figures | None]) -> Rows:
    least = min((one.loss for one in figures if one is not None), default=None)
    losses: list[str | Text] = [
        Text(loss_text(one.loss, one.standard_error), "bold" if one.loss == least else "")
        if one
        else "missing"
        for one in figures
    ]
    alphas = ["" if one is None else _alphas(one.alphas) for one in figures]
    return [[row_text(row), *losses], ["  alpha", *alphas]]


def _alphas(alphas: Sequence[float]) -> str:
    """Return the alpha, or the least and the largest where seeds have different ones."""
    return " … ".join(alpha_text(alpha) for alpha in dict.fromkeys((alphas[0], alphas[-1])))


def _print_group_table(found: ByGroup) -> None:
    first = next(iter(found.values()))
    groups = sorted(first, key=lambda group: -first[group].rows)
    rows: Rows = [["", *map(column_text, found)]]
    for group in groups[:SHOWN_GROUPS]:
        name = group if len(group) <= LONGEST_GROUP else f"{group[: LONGEST_GROUP - 1]}…"
        rows.append([f"  {printable(name)}", *(_triple(rates[group]) for rates in found.values())])
    _print(rows, GROUP, TRIPLE)
    if len(groups) > SHOWN_GROUPS:
        print(f"  and {len(groups) - SHOWN_GROUPS} smaller groups, see groups.parquet")


def _print(rows: Rows, label: int, width: int) -> None:
    """Print rows in columns of the same width: that given, or more where a text needs it."""
    label = max(label, *(len(row[0]) + 1 for row in rows))
    width = max(width, *(len(text) + 2 for row in rows for text in row[1:]))
    print_table(rows, label, width)


def _triple(rates: GroupRates) -> str:
    return f"{rates.loss:.2f} / {_percent(rates.accepted_rate)} / {_percent(rates.missed_rate)}"


def _percent(rate: float | None) -> str:
    return NONE if rate is None else f"{rate:.1%}"
