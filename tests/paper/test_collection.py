from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.paper.collection import (
    CELL_TYPES,
    CELLS,
    CURVES,
    LOSSES,
    Collection,
    CollectionError,
    average_curve,
    gather,
    merge,
)
from pipeline.results.journal import Run
from pipeline.results.runs import RunFolder
from tests.paper.made_up_collection import near_the_paper
from tests.results.made_up import ALPHAS, N_SPLITS, ROUNDS, made_up

FILES = (CELLS, LOSSES, CURVES)


def cell(
    outputs: Path, method: str, state: str = "done", seed: int = 0, link: str = "linear"
) -> Run:
    folder = RunFolder(outputs / "runs/inferred/blood" / link / "0.5" / method / "0123456789ab")
    if state == "done":
        folder.save(made_up(seed), "config: 1\n", {"python": "3"}, 1.5)
    if state == "failed":
        folder.fail("config: 1\n", "out of, memory", "traceback")
    run = Run(0, "missing", folder.labels)
    if state == "missing":
        return run
    return run.ended(
        "kept" if state == "done" else "failed", folder, reason=folder.status.get("reason")
    )


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    cells = [
        cell(tmp_path, "ours", seed=1),
        cell(tmp_path, "noise", "failed"),
        cell(tmp_path, "margin", "missing"),
        cell(tmp_path, "greedy", seed=2),
    ]
    return gather(cells, tmp_path)


def same(first: Collection, second: Collection) -> None:
    for part in ("cells", "losses", "curves"):
        pd.testing.assert_frame_equal(getattr(first, part), getattr(second, part))


def test_every_cell_has_a_row_whatever_became_of_it(collection: Collection) -> None:
    cells = collection.cells.set_index("method")
    assert list(collection.cells.columns) == list(CELL_TYPES)
    assert cells["state"].to_dict() == {
        "greedy": "done", "margin": "missing", "noise": "failed", "ours": "done",
    }  # fmt: skip
    assert cells.loc["noise", "reason"] == "out of, memory"
    assert cells.loc["ours", "folder"] == "runs/inferred/blood/linear/0.5/ours/0123456789ab"
    assert cells.loc["margin", "folder"] == ""
    figures = cells.loc[["margin", "noise"], ["alpha", "loss", "standard_error", "n_splits"]]
    assert figures.isna().all(axis=None)


def test_figures_are_those_of_the_run_folders(collection: Collection) -> None:
    outcome = made_up(1)
    ours = collection.cells.set_index("method").loc["ours"]
    for name in ("alpha", "loss", "standard_error", "missed_rate", "n_rounds", "n_splits"):
        assert ours[name] == outcome.summary[name]
    losses = collection.losses[collection.losses["method"] == "ours"]
    for name in ("alpha", "split", "loss"):
        np.testing.assert_array_equal(losses[name], outcome.losses[name])
    assert len(collection.losses) == 2 * len(ALPHAS) * N_SPLITS


def test_a_curve_is_the_mean_over_splits(collection: Collection) -> None:
    found = collection.curves[collection.curves["method"] == "ours"]
    outcome = made_up(1)
    by_split = outcome.losses["loss"][:N_SPLITS] / 10  # R_t/t is the same in every round
    np.testing.assert_array_equal(found["round"], ROUNDS)
    np.testing.assert_allclose(found["mean"], np.mean(by_split))
    error = np.std(by_split, ddof=1) / np.sqrt(N_SPLITS)
    np.testing.assert_allclose(found["standard_error"], error)


def test_a_long_curve_keeps_about_200_rounds_and_both_ends() -> None:
    rounds = np.arange(1, 1001) * 48
    rng = np.random.default_rng(0)
    losses = rng.uniform(size=(4, 1000)).cumsum(axis=1)
    splits = np.repeat(np.arange(4), 1000)
    mixed = rng.permutation(4000)  # the order of the lines does not matter
    columns = {"split": splits, "round": np.tile(rounds, 4), "loss": losses.ravel()}
    found = average_curve({name: values[mixed] for name, values in columns.items()})
    assert len(found["round"]) == 200
    assert found["round"][0] == 48
    assert found["round"][-1] == 48000
    steps = np.diff(found["round"]) / 48
    assert set(steps) == {5.0, 6.0} or set(steps) <= {4.0, 5.0, 6.0}
    where = np.searchsorted(rounds, found["round"])
    np.testing.assert_allclose(found["mean"], (losses / rounds).mean(axis=0)[where])


def test_one_split_has_no_standard_error() -> None:
    columns = {"split": np.zeros(3, int), "round": ROUNDS, "loss": np.ones(3)}
    assert np.isnan(average_curve(columns)["standard_error"]).all()


def test_what_is_written_is_read(collection: Collection, tmp_path: Path) -> None:
    collection.write(tmp_path / "c")
    same(Collection.read(tmp_path / "c"), collection)
    assert sorted(file.name for file in (tmp_path / "c").iterdir()) == sorted(FILES)


def test_neither_order_nor_a_second_time_changes_a_byte(tmp_path: Path) -> None:
    cells = [cell(tmp_path, "ours"), cell(tmp_path, "greedy"), cell(tmp_path, "noise", "missing")]
    first = gather(cells, tmp_path)
    first.write(tmp_path / "a")
    gather(cells[::-1], tmp_path).write(tmp_path / "b")
    merge([gather([one], tmp_path) for one in cells[1:] + cells[:1]]).write(tmp_path / "c")
    Collection.read(tmp_path / "a").write(tmp_path / "d")
    for name in FILES:
        expected = (tmp_path / "a" / name).read_bytes()
        assert all((tmp_path / other / name).read_bytes() == expected for other in "bcd")


def test_nothing_done_is_a_collection_too(tmp_path: Path) -> None:
    collection = gather([cell(tmp_path, "ours", "missing")], tmp_path)
    collection.write(tmp_path / "c")
    same(Collection.read(tmp_path / "c"), collection)
    assert list(collection.cells["state"]) == ["missing"]
    assert collection.losses.empty


def test_a_cell_twice_is_refused(tmp_path: Path) -> None:
    found = cell(tmp_path, "ours")
    with pytest.raises(CollectionError, match=r"two results for inferred blood linear 0\.5 ours"):
        gather([found, found], tmp_path)
    one = gather([found], tmp_path)
    with pytest.raises(CollectionError, match="two results"):
        merge([one, one])


def test_a_run_elsewhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="is not in"):
        gather([cell(tmp_path / "a", "ours")], tmp_path / "b")


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (CELLS, b"protocol,", b"protocl,", "expected the columns protocol, dataset"),
        (CELLS, b",done,", b",odd,", "'odd' is no state"),
        (CELLS, b",0.5,ours", b",0.5,greedy", "two results"),
        (CELLS, b"012345,0.5,", b"012345,abc,", "abc"),
        (CELLS, b"012345,0.5,", b"012345,8.0,", "no loss under the tuned alpha"),
        (LOSSES, b"PAR1", b"PARX", "losses.parquet"),
        (CURVES, b"PAR1", b"PARX", "curves.parquet"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    tmp_path: Path, name: str, old: bytes, new: bytes, said: str
) -> None:
    collection = gather([cell(tmp_path, "ours"), cell(tmp_path, "greedy")], tmp_path)
    collection.cells["folder"] = "012345"
    collection.write(tmp_path)
    content = (tmp_path / name).read_bytes()
    assert old in content
    (tmp_path / name).write_bytes(content.replace(old, new))
    with pytest.raises(CollectionError, match=said) as raised:
        Collection.read(tmp_path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_there_is_named(
    collection: Collection, tmp_path: Path, name: str
) -> None:
    collection.write(tmp_path / "c")
    (tmp_path / "c" / name).unlink()
    with pytest.raises(CollectionError, match=f"{name} is not there"):
        Collection.read(tmp_path / "c")


def test_a_parquet_file_with_other_columns_or_types_is_refused(tmp_path: Path) -> None:
    collection = near_the_paper(keep=lambda row: row.in_text)
    collection.write(tmp_path)
    collection.losses.drop(columns="split").to_parquet(tmp_path / LOSSES)
    with pytest.raises(CollectionError, match="expected the columns"):
        Collection.read(tmp_path)
    collection.losses.astype({"split": "float64"}).to_parquet(tmp_path / LOSSES)
    with pytest.raises(CollectionError, match="split should be int64, it is float64"):
        Collection.read(tmp_path)


def test_a_protocol_can_be_picked() -> None:
    both = merge(
        near_the_paper(keep=lambda row: row.in_text, protocol=name)
        for name in ("inferred", "stated")
    )
    assert both.protocols == ["inferred", "stated"]
    stated = both.of("stated")
    assert stated.protocols == ["stated"]
    assert len(stated.cells) == 280
    assert set(stated.losses["protocol"]) == set(stated.curves["protocol"]) == {"stated"}
