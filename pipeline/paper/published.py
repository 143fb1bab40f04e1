"""The paper's own figures: 200 rows, each a dataset, link and cutoff with seven methods."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LINKS = {"linear": "Linear", "logistic": "Logistic"}
METHODS = ("greedy", "eps_greedy", "os_eps_greedy", "noise", "os_noise", "margin", "ours")
BASELINE, CHAMPION = METHODS[0], METHODS[-1]
DIGITS = 2  # of a printed figure
COLUMNS = ("link", "dataset", "cutoff", *METHODS, "bold", "in_text")
FILE = Path(__file__).parent / "reference" / "published.csv"
N_ROWS, N_IN_TEXT = 200, 40
Key = tuple[str, str, str]  # link, dataset, cutoff


class PublishedError(ValueError):
    """The table of published figures is not what it should be."""


@dataclass(frozen=True)
class PublishedRow:
    """One row of the paper's tables.

    Attributes:
        link: linear or logistic.
        dataset: as in ``dataset=``.
        cutoff: the label of the quantile, such as ``0.5``.
        loss: by method.
        bold: the method printed in bold.
        in_text: whether Table 1 or 2 has the row too.
    """

    link: str
    dataset: str
    cutoff: str
    loss: dict[str, float]
    bold: str
    in_text: bool

    @property
    def key(self) -> Key:
        """Return what names the row."""
        return self.link, self.dataset, self.cutoff

    @property
    def best(self) -> tuple[str, ...]:
        """Return the methods with the least loss; several where they tie."""
        least = min(self.loss.values())
        return tuple(method for method, loss in self.loss.items() if loss == least)

    @property
    def misprinted(self) -> bool:
        """Tell whether the bold figure is not the row's minimum."""
        return self.bold not in self.best


def published(file: Path = FILE) -> list[PublishedRow]:
    """Return the published rows in the paper's order."""
    rows = [_row(number, line, file) for number, line in read_reference(file, COLUMNS)]
    _check(rows, file)
    return rows


def read_reference(file: Path, columns: tuple[str, ...]) -> list[tuple[int, dict[str, str]]]:
    """Return the lines of a table of reference with their numbers; refuse other columns."""
    with file.open(newline="", encoding="utf-8") as opened:
        reader = csv.DictReader(opened)
        if tuple(reader.fieldnames or ()) != columns:
            raise PublishedError(f"{file}: expected the columns {', '.join(columns)}")
        return list(enumerate(reader, start=2))


def _row(number: int, line: dict[str, str], file: Path) -> PublishedRow:
    try:
        loss = {method: float(line[method]) for method in METHODS}
    except (TypeError, ValueError) as error:
        raise PublishedError(f"{file}, line {number}: {error}") from error
    if line["bold"] not in METHODS or min(loss.values()) <= 0:
        raise PublishedError(f"{file}, line {number}: a loss or the bold method makes no sense")
    cutoff = f"{float(line['cutoff']):g}"
    in_text = line["in_text"] == "yes"
    return PublishedRow(line["link"], line["dataset"], cutoff, loss, line["bold"], in_text)


def _check(rows: Iterable[PublishedRow], file: Path) -> None:
    rows = list(rows)
    keys = {row.key for row in rows}
    in_text = sum(row.in_text for row in rows)
    if len(rows) != N_ROWS or len(keys) != N_ROWS or in_text != N_IN_TEXT:
        raise PublishedError(
            f"{file}: expected {N_ROWS} distinct rows, {N_IN_TEXT} of them in the text, "
            f"found {len(keys)} of {len(rows)} and {in_text}"
        )
