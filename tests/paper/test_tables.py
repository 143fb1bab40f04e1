from __future__ import annotations

import csv
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pipeline.paper.collection import Collection
from pipeline.paper.published import METHODS, published
from pipeline.paper.tables import (
    Table,
    escaped,
    gaps,
    make_tables,
    to_csv,
    to_latex,
    to_markdown,
    write_tables,
)
from tests.paper.made_up_collection import near_the_paper, of_losses, without

NAMES = [
    "table1", "table2", "appendix_linear_1", "appendix_linear_2", "appendix_logistic_1",
    "appendix_logistic_2",
]  # fmt: skip
FIRST = ["adult", "bank", "compas", "crime", "german"]
LAST = ["blood", "diabetes", "eeg_eye", "australian", "churn"]
LABELS = [("inferred", "adult", "linear", "0.5", method) for method in METHODS]
ENGINES = [name for name in ("tectonic", "pdflatex", "xelatex", "lualatex") if shutil.which(name)]


@pytest.fixture(scope="module")
def collection() -> Collection:
    return near_the_paper(spread=0)


@pytest.fixture(scope="module")
def tables(collection: Collection) -> list[Table]:
    return make_tables(collection)


def first_row(losses: list[list[float]]) -> Table:
    """Table 1 of a collection that has its first row only: seven methods × splits."""
    found = np.repeat(np.array(losses)[:, None, :], 3, axis=1)
    (table,) = make_tables(of_losses(LABELS, found), ["table1"])
    return table


def bold(table: Table) -> list[str]:
    figures = next(iter(table.rows.values()))
    return [method for method, figure in figures.items() if figure.bold]


def test_rows_are_those_of_the_paper(tables: list[Table]) -> None:
    assert [table.name for table in tables] == NAMES
    datasets = [list(dict.fromkeys(row.dataset for row in table.rows)) for table in tables]
    assert datasets == [FIRST + LAST, FIRST + LAST, FIRST, LAST, FIRST, LAST]
    assert [len(table.rows) for table in tables] == [20, 20, 50, 50, 50, 50]
    assert {row.link for table in (tables[0], *tables[2:4]) for row in table.rows} == {"linear"}
    assert {row.cutoff for table in tables[:2] for row in table.rows} == {"0.5", "0.7"}
    assert all(tuple(row) == METHODS for table in tables for row in table.rows.values())


def test_with_the_papers_own_losses_the_tables_are_the_papers(tables: list[Table]) -> None:
    """Bold is where the least is, not where the paper misprints it."""
    paper = {row.key: row for row in published()}
    for table in tables:
        for setting, figures in table.rows.items():
            expected = paper[setting]
            losses = {method: figure.loss for method, figure in figures.items()}
            assert losses == pytest.approx(expected.loss)
            least = tuple(method for method, figure in figures.items() if figure.bold)
            assert least == expected.best


def test_mean_and_standard_error_are_over_splits() -> None:
    table = first_row([[float(k), k + 1.0, k + 5.0] for k in range(7)])
    figure = next(iter(table.rows.values()))["ours"]
    assert figure.loss == pytest.approx(8.0)
    assert figure.error == pytest.approx(np.std([6, 7, 11], ddof=1) / np.sqrt(3))
    assert "**2.00** ± 1.53 |" in to_markdown(table)
    assert r"\textbf{2.00} $\pm$ 1.53 &" in to_latex(table)


def test_ties_are_all_bold() -> None:
    assert bold(first_row([[5.0], [3.0], [4.0], [3.0], [9.0], [9.0], [9.0]])) == [
        "eps_greedy", "noise",
    ]  # fmt: skip


def test_figures_that_print_alike_tie() -> None:
    table = first_row([[3.004], [3.001], [3.006], [4.0], [4.0], [4.0], [4.0]])
    assert bold(table) == ["greedy", "eps_greedy"]
    line = to_markdown(table).splitlines()[4]
    assert line.startswith("| Adult | 50% | **3.00** | **3.00** | 3.01 |")


@pytest.mark.parametrize("state", ["missing", "failed"])
def test_a_gap_is_named_and_not_bold(collection: Collection, tmp_path: Path, state: str) -> None:
    labels = {"dataset": "bank", "link": "linear", "cutoff": "0.7", "method": "noise"}
    commands = write_tables(without(collection, state, **labels), tmp_path)
    command = (
        "python -m pipeline.run -m experiment=paper protocol=inferred dataset=bank link=linear "
        "cutoff=0.7 method=noise"
    )
    assert commands == [command]
    for name in ("table1", "appendix_linear_1"):
        latex, markdown, text = (
            (tmp_path / f"{name}.{ending}").read_text() for ending in ("tex", "md", "csv")
        )
        assert latex.count(rf"\emph{{{state}}}") == 1
        assert markdown.count(f"*{state}*") == 1
        assert command in latex
        assert command in markdown
        (row,) = (r for r in csv.DictReader(text.splitlines()) if state in r.values())
        assert (row["dataset"], row["cutoff"], row["noise"]) == ("bank", "0.7", state)
        assert row["noise_standard_error"] == state
        assert row["bold"] == ""  # the least of the row is not known
    assert "missing" not in (tmp_path / "table2.md").read_text()


def test_cells_a_sweep_did_not_ask_for_are_missing_too() -> None:
    collection = near_the_paper(keep=lambda row: row.in_text)
    tables = make_tables(collection)
    assert not gaps(tables[:2], "inferred")
    assert len(gaps(tables, "inferred")) == 160 * 7


def test_one_split_has_no_error() -> None:
    table = first_row([[1.0]] * 7)
    assert "±" not in to_markdown(table).splitlines()[4]
    assert next(csv.DictReader(to_csv(table).splitlines()))["ours_standard_error"] == "unknown"


def test_the_csv_has_the_figures(tables: list[Table]) -> None:
    (first, *_) = csv.DictReader(to_csv(tables[0]).splitlines())
    assert first["greedy"] == "239.4500"
    assert first["bold"] == "ours"
    assert list(first)[:10] == ["link", "dataset", "cutoff", *METHODS]


def test_some_tables_alone(collection: Collection, tmp_path: Path) -> None:
    write_tables(collection, tmp_path, ["table2"])
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "table2.csv", "table2.md", "table2.tex", "tables.tex",
    ]  # fmt: skip


def test_the_same_results_give_the_same_files(collection: Collection, tmp_path: Path) -> None:
    for name in "ab":
        write_tables(collection, tmp_path / name)
    files = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert len(files) == 19
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def environments_balance(text: str) -> bool:
    open_: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            open_.append(name)
        elif not open_ or open_.pop() != name:
            return False
    return not open_


def test_latex_is_well_formed(tables: list[Table]) -> None:
    for table in tables:
        text = to_latex(table)
        assert environments_balance(text)
        assert text.count("{") == text.count("}")
        assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0
        assert not re.search(r"(?<!\\)[%#]", text)
        assert text.isascii()
        body = text.split(r"\toprule")[1].split(r"\bottomrule")[0]
        lines = [line for line in body.splitlines() if line and line != r"\midrule"]
        assert len(lines) == len(table.rows) + 1
        assert all(line.endswith(r" \\") and line.count(" & ") == 8 for line in lines)
        columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)
        assert columns is not None
        assert len(columns.group(1)) == 9
        # One head, then one rule above each dataset.
        assert body.count(r"\midrule") == len({row.dataset for row in table.rows})


def test_special_characters_are_escaped() -> None:
    assert escaped("50% of a_b & c: ε ± {1}") == r"50\% of a\_b \& c: $\epsilon$ $\pm$ \{1\}"


def test_the_document_holds_all_tables(collection: Collection, tmp_path: Path) -> None:
    write_tables(collection, tmp_path)
    text = (tmp_path / "tables.tex").read_text()
    assert re.findall(r"\\input\{(\w+)\}", text) == NAMES
    assert environments_balance(text)
    assert r"\usepackage{booktabs}" in text


@pytest.mark.skipif(not ENGINES, reason="no LaTeX engine is installed")
def test_the_document_compiles(collection: Collection, tmp_path: Path) -> None:
    gap = without(collection, dataset="bank", method="noise")
    write_tables(gap, tmp_path)
    options = [] if ENGINES[0] == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    subprocess.run([ENGINES[0], *options, "tables.tex"], cwd=tmp_path, check=True)
    assert (tmp_path / "tables.pdf").stat().st_size > 0
