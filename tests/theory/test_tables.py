from __future__ import annotations

from pathlib import Path

import pandas as pd

from pipeline.theory.tables import markdown_table, write_tables


def test_tables_are_written_with_six_digits(tmp_path: Path) -> None:
    table = pd.DataFrame({"link": ["linear"], "loss": [1 / 3], "runs": [40]})
    write_tables({"a": table, "b": table}, tmp_path / "out")
    for name in ("a", "b"):
        assert (
            tmp_path / "out" / f"{name}.csv"
        ).read_text() == "link,loss,runs\nlinear,0.333333,40\n"
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_a_table_on_a_page() -> None:
    assert markdown_table(["link", "loss"], [["linear", "0.3"], ["logistic", "1"]]) == [
        "| link | loss |",
        "| --- | ---: |",
        "| linear | 0.3 |",
        "| logistic | 1 |",
    ]
