"""``from pipeline import sweep`` against direct calls of the engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline import curves, groups, sweep
from pipeline.cells.errors import ConfigError
from pipeline.cells.read import make_cell
from pipeline.core.engine import simulate
from pipeline.core.lanes import grid
from pipeline.core.loss import cutoff_at, fit_truth
from pipeline.core.models.base import ModelSpec
from pipeline.core.tuning import tune
from pipeline.data.dataset import load
from pipeline.data.own_table import load_frame
from pipeline.data.splits import stratified_split
from pipeline.results.journal import find_sweeps
from pipeline.sweeps.plan import plan
from tests.cells.configs import SMALL, places, run_listed

SETTING = {"splits": 2, "alpha": [0.1, 1], "n_jobs": 1}
METHODS = ["greedy", "margin", "ours"]


def own_frame(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"income": rng.normal(size=n), "debt": rng.normal(size=n)})
    frame["sex"] = np.where(rng.random(n) < 0.4, "f", "m")
    return frame.assign(repaid=(frame.income - frame.debt + rng.normal(size=n) > 0).astype(int))


def test_the_figures_are_those_of_the_engine(tmp_path: Path) -> None:
    found = sweep("blood", cutoff=[0.5, 0.7], method=METHODS, outputs=tmp_path, **SETTING)
    data = load("blood", offline=True)
    truth = fit_truth(data.X, data.y, ModelSpec(l2=0.0))
    size = int(np.ceil(0.05 * len(data.y)))
    for quantile in (0.5, 0.7):
        value = cutoff_at(truth, quantile)
        simulation = simulate(
            *(data.X, data.y),
            truth=truth,
            splits=[stratified_split(data.y, size, 0, number) for number in range(2)],
            lanes=grid(METHODS, [0.1, 1.0], [value], 2),
            spec=ModelSpec(),
            time="examples",
            curve_points=1000,
        )
        for (method, _), best in tune(simulation).items():
            (row,) = found[(found.cutoff == quantile) & (found.method == method)].itertuples()
            assert (row.alpha, row.loss) == (best.alpha, best.mean)
            assert row.standard_error == best.standard_error
            assert row.cutoff_value == value
            curve = curves(found.loc[[row.Index]])
            for split, lane in enumerate(best.lanes):
                part = curve[curve.split == split]
                np.testing.assert_array_equal(part["loss"], simulation.curve[lane])
                average = simulation.curve[lane] / simulation.rounds
                np.testing.assert_array_equal(part["average_loss"], average)


def test_there_is_a_row_for_every_combination(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    found = sweep(
        ["blood", "diabetes"],
        link=("linear", "logistic"),
        method=["greedy", "ours"],
        outputs=tmp_path,
        progress=lambda done, total: seen.append((done, total)),
        **SETTING,
    )
    names = found[["dataset", "link", "method"]].drop_duplicates()
    assert len(found) == len(names) == 8
    assert seen == [(number, 8) for number in range(1, 9)]
    assert found.state.tolist() == ["computed"] * 8
    assert found.loss.dtype == np.float64
    assert (found.seconds > 0).all()


def test_command_line_and_python_share_their_results(tmp_path: Path) -> None:
    jobs = plan(["dataset=blood", "method=greedy,ours", *SMALL])
    runs = run_listed([make_cell(job.values) for job in jobs], places(tmp_path))
    found = sweep("blood", method=["greedy", "ours"], outputs=tmp_path, **SETTING)
    assert found.state.tolist() == ["kept", "kept"]
    assert found.folder.tolist() == [run.folder for run in runs]
    again = sweep("blood", outputs=tmp_path, force=True, **SETTING)
    assert again.state.tolist() == ["computed"]
    assert again.loss[0] == found.loss[1]


def test_several_processes_give_the_same_frame(tmp_path: Path) -> None:
    one, two = (
        sweep(
            "blood",
            method=METHODS,
            cutoff=np.array([0.5, 0.7]),
            outputs=tmp_path / str(n_jobs),
            **{**SETTING, "n_jobs": n_jobs},
        ).drop(columns=["folder", "seconds"])
        for n_jobs in (1, 2)
    )
    pd.testing.assert_frame_equal(one, two)


def test_a_frame_of_ones_own(tmp_path: Path) -> None:
    table = load_frame(own_frame(), "repaid", group="sex", name="loans")
    found = sweep(table, method=["greedy", "ours"], outputs=tmp_path, **SETTING)
    assert found.dataset.tolist() == ["loans", "loans"]
    assert found.cutoff.tolist() == [0.5, 0.5]
    by_group = groups(found)
    assert set(by_group.group) == {"f", "m"}
    total = by_group.groupby("method").loss.sum()
    for row in found.itertuples():
        assert total[row.method] == pytest.approx(row.loss)
    other = load_frame(own_frame().assign(debt=1.5), "repaid", name="loans", drop=["sex"])
    assert sweep(other, outputs=tmp_path, **SETTING).state.tolist() == ["computed"]


def test_names_and_tables_together(tmp_path: Path) -> None:
    table = load_frame(own_frame(), "repaid", name="loans")
    found = sweep([table, "blood"], method="greedy", outputs=tmp_path, **SETTING)
    assert sorted(found.dataset) == ["blood", "loans"]


def test_a_named_dataset_may_be_handed_over(tmp_path: Path) -> None:
    by_name = sweep("blood", outputs=tmp_path, **SETTING)
    handed = sweep(load("blood", offline=True), outputs=tmp_path, **SETTING)
    assert handed.loss[0] == by_name.loss[0]


def test_a_dataset_with_a_cutoff_of_its_own(tmp_path: Path) -> None:
    found = sweep(
        "greedy_trap", outputs=tmp_path, overrides=["dataset.n=200", "dataset.d=3"], **SETTING
    )
    assert found.cutoff.tolist() == ["value_0.5"]
    assert found.cutoff_value.tolist() == [0.5]


def test_a_failed_cell_is_a_row_and_a_warning(tmp_path: Path) -> None:
    bad = load_frame(own_frame(20), "repaid", name="tiny", drop=["sex"])
    with pytest.warns(UserWarning, match="1 of 2 cells failed: tiny"):
        found = sweep(
            ["blood", bad],
            method="greedy",
            outputs=tmp_path,
            overrides=["protocol.initial={share: null, count: 30}"],
            **SETTING,
        )
    assert found.state.tolist() == ["computed", "failed"]
    assert found.reason.notna().tolist() == [False, True]
    assert np.isnan(found.loss[1])
    assert set(curves(found).dataset) == {"blood"}


def test_nonsense_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'ours'"):
        sweep(method="our", outputs=tmp_path)
    with pytest.raises(ConfigError, match="not a quantile"):
        sweep(cutoff=1.5, outputs=tmp_path)
    with pytest.raises(ConfigError, match="nothing to run"):
        sweep([], outputs=tmp_path)
    table = load_frame(own_frame(), "repaid", name="../up")
    with pytest.raises(ConfigError, match="cannot be called"):
        sweep(table, outputs=tmp_path)


def test_tracked_sweeps_are_in_mlflow(tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    found = sweep(
        "blood", method=["greedy", "ours"], outputs=tmp_path, tracking="mlflow", **SETTING
    )
    (journal,) = find_sweeps(tmp_path)
    entries = list(journal.runs())
    assert [entry.labels["method"] for entry in entries] == ["greedy", "ours"]
    client = MlflowClient(journal.about["tracking"]["uri"])
    for entry, loss in zip(entries, found.loss, strict=True):
        run = client.get_run(str(entry.tracked))
        assert run.data.metrics["loss"] == loss
        assert run.data.tags["mlflow.parentRunId"] == journal.about["tracking"]["parent"]
    assert client.get_run(journal.about["tracking"]["parent"]).info.status == "FINISHED"


def test_a_stop_while_mlflow_is_told_makes_no_failures_of_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, bool]] = []

    def close_sweep(_: object, failed: int, __: object, killed: bool, ___: object) -> None:
        told.append((failed, killed))
        if len(told) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.sweeps.desk.close_sweep", close_sweep)
    with pytest.raises(KeyboardInterrupt):
        sweep("blood", method=METHODS[:2], outputs=tmp_path, tracking="mlflow", **SETTING)
    assert told == [(0, False), (0, True)]


def test_a_server_that_is_down_is_a_warning(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="MLflow at"):
        found = sweep(
            "blood",
            method="greedy",
            outputs=tmp_path,
            tracking="mlflow",
            overrides=["tracking.uri=http://127.0.0.1:9"],
            **SETTING,
        )
    assert found.state.tolist() == ["computed"]


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, pipeline; "
        "assert not {'numpy', 'pandas', 'hydra', 'numba'} & set(sys.modules); "
        "assert callable(pipeline.sweep)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="swept"):
        __import__("pipeline").swept  # noqa: B018


def test_a_table_that_was_changed_in_place_is_another_one(tmp_path: Path) -> None:
    table = load_frame(own_frame(), target="repaid", name="loans")
    first = sweep(table, method="greedy", outputs=tmp_path, **SETTING)
    table.X[:, 0] = 0.0
    second = sweep(table, method="greedy", outputs=tmp_path, **SETTING)
    assert [*first.state, *second.state] == ["computed", "computed"]
    assert first.folder[0] != second.folder[0]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"overrides": ["part=0"]}, "part=0"),
        ({"overrides": ["threads=0"]}, "threads=0"),
        ({"overrides": ["data.timeout=-1"]}, r"data\.timeout=-1"),
    ],
)
def test_what_the_command_line_refuses_is_refused(
    asked: dict[str, object], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=said):
        sweep("blood", outputs=tmp_path, **{**SETTING, **asked})
    assert not list(tmp_path.iterdir())
