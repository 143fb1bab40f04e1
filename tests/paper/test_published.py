from __future__ import annotations

from pipeline.paper.published import METHODS, published

MISPRINTED = {
    ("linear", "adult", "0.9"), ("linear", "diabetes", "0.9"), ("linear", "eeg_eye", "0.95"),
    ("linear", "australian", "0.85"), ("logistic", "crime", "0.8"), ("logistic", "german", "0.9"),
    ("logistic", "diabetes", "0.8"),
}  # fmt: skip


def test_there_are_ten_cutoffs_for_each_dataset_and_link() -> None:
    rows = published()
    blocks: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        blocks.setdefault((row.key.link, row.key.dataset), []).append(row.key.cutoff)
    assert len(blocks) == 20
    assert all(len(set(cutoffs)) == 10 for cutoffs in blocks.values())
    assert all(set(row.loss) == set(METHODS) for row in rows)


def test_seven_rows_print_the_wrong_figure_in_bold() -> None:
    assert {row.key for row in published() if row.misprinted} == MISPRINTED


def test_ours_is_the_row_minimum_in_66_and_67_rows() -> None:
    wins = {"linear": 0, "logistic": 0}
    for row in published():
        wins[row.key.link] += "ours" in row.best
    assert wins == {"linear": 66, "logistic": 67}


def test_the_rows_are_distinct_and_make_sense() -> None:
    rows = published()
    assert len({row.key for row in rows}) == len(rows) == 200
    assert sum(row.in_text for row in rows) == 40
    assert all(row.bold in METHODS and min(row.loss.values()) > 0 for row in rows)
