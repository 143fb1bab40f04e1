"""The paper's own figures, 200 rows of seven methods, and what is known of them beside."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from pipeline.view.names import cutoff_name, dataset_name

LINKS = {"linear": "Linear", "logistic": "Logistic"}
METHODS = ("greedy", "eps_greedy", "os_eps_greedy", "noise", "os_noise", "margin", "ours")
BASELINE, CHAMPION = METHODS[0], METHODS[-1]
DIGITS = 2  # of a printed figure
DATASETS_A_TABLE = 5  # of the appendix
REFERENCE = Path(__file__).parent / "reference"
FILE, FINDINGS = REFERENCE / "published.csv", REFERENCE / "findings.csv"


class Setting(NamedTuple):
    """One row of the paper's tables."""

    link: str
    dataset: str
    cutoff: str

    @property
    def name(self) -> str:
        """Return dataset and cutoff, as the title of a panel."""
        return f"{dataset_name(self.dataset)}, {cutoff_name(self.cutoff)}"


KEY = list(Setting._fields)
CELL_KEY = [*KEY, "method"]


class PublishedRow(NamedTuple):
    """One row of the paper's tables.

    Attributes:
        key: what names the row; its cutoff is the label of the quantile, such as ``0.5``.
        loss: by method.
        bold: the method printed in bold.
        in_text: whether Table 1 or 2 has the row too.
    """

    key: Setting
    loss: dict[str, float]
    bold: str
    in_text: bool

    @property
    def best(self) -> tuple[str, ...]:
        """Return the methods with the least loss; several where they tie."""
        return best_methods(self.loss)

    @property
    def misprinted(self) -> bool:
        """Tell whether the bold figure is not the row's minimum."""
        return self.bold not in self.best


class Finding(NamedTuple):
    """One thing that is known.

    Attributes:
        kind: unexplained, a caution to the reader, or a misprint outside the tables.
        about: links, datasets and cutoffs, by label; none named means all.
        finding: in one or two sentences.
    """

    kind: str
    about: dict[str, tuple[str, ...]]
    finding: str


def published() -> list[PublishedRow]:
    """Return the published rows in the paper's order."""
    rows = []
    for line in _lines(FILE):
        key = Setting(line["link"], line["dataset"], line["cutoff"])
        loss = {method: float(line[method]) for method in METHODS}
        rows.append(PublishedRow(key, loss, line["bold"], line["in_text"] == "yes"))
    return rows


def paper_labels() -> dict[str, list[str]]:
    """Return the paper's links, datasets and cutoffs, each once and in its order."""
    columns = zip(*(row.key for row in published()), strict=True)
    return {name: list(dict.fromkeys(column)) for name, column in zip(KEY, columns, strict=True)}


def best_methods(losses: Mapping[str, float]) -> tuple[str, ...]:
    """Return the methods with the least loss, ties judged with the paper's two digits."""
    rounded = {method: round(loss, DIGITS) for method, loss in losses.items()}
    least = min(rounded.values())
    return tuple(method for method, loss in rounded.items() if loss == least)


def in_text(*links: str) -> list[Setting]:
    """Return the settings of Tables 1 and 2, of all links or some, in the paper's order."""
    return [row.key for row in published() if row.in_text and row.key.link in (links or LINKS)]


def layout() -> dict[str, list[Setting]]:
    """Return the rows of each table: two in the text, two for each link in the appendix."""
    found = {f"table{number}": in_text(link) for number, link in enumerate(LINKS, start=1)}
    place = {dataset: k // DATASETS_A_TABLE for k, dataset in enumerate(paper_labels()["dataset"])}
    for row in published():
        name = f"appendix_{row.key.link}_{place[row.key.dataset] + 1}"
        found.setdefault(name, []).append(row.key)
    return found


def present(found: Collection[str]) -> list[str]:
    """Return the methods that are there: those of the paper in its order, then others."""
    return [*(method for method in METHODS if method in found), *sorted({*found} - {*METHODS})]


def absent(found: Collection[str]) -> list[str]:
    """Return the paper's methods that are not there."""
    return [method for method in METHODS if method not in found]


def findings() -> list[Finding]:
    """Return the findings in the order of the file."""
    found = []
    for line in _lines(FINDINGS):
        about = {label: tuple(line[f"{label}s"].split()) for label in KEY}
        found.append(Finding(line["kind"], about, line["finding"]))
    return found


def _lines(file: Path) -> list[dict[str, str]]:
    """Return the lines of a table of reference; it comes with the package, tests hold it right."""
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))
