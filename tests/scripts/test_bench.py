"""The benchmark at toy sizes: it runs, its arithmetic is right, and it saves what it prints."""

import csv
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import bench
import numpy as np
import pytest
from benchmarks import linear, logistic, memory, own_tables, scaling, sgd
from benchmarks.report import Report, Row, Section, Target, as_csv, as_markdown, quantity, save
from benchmarks.sizes import FULL, QUICK
from benchmarks.streams import DENSE_122, SHAPES, adult_stream, linear_stream
from benchmarks.timing import best_of, in_fresh_process

TINY = replace(
    QUICK, stream=300, loop_rounds=100, rival_rounds=5, thread_rounds=400, rounds=(200, 400)
)


def rows_of(measure: object, sizes: object = TINY) -> list[Row]:
    return list(measure(sizes))  # type: ignore[operator]


def test_target_says_which_side_it_is_on() -> None:
    assert str(Target(1e4)) == "≥ 10,000"
    assert str(Target(4, at_most=True)) == "≤ 4"
    assert Target(30).met_by(30.0)
    assert not Target(30).met_by(29.9)
    assert Target(4, at_most=True).met_by(3.9)
    assert not Target(4, at_most=True).met_by(4.1)
    assert not Target(4).met_by(math.nan)
    assert not Target(4, at_most=True).met_by(math.nan)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1234.5, "s", "1,234 s"),
        (0.0123, "s", "12.3 ms"),
        (2.5e-7, "s", "0.25 µs"),
        (3 * 2.0**20, "B", "3 MiB"),
        (math.nan, "s", "–"),
    ],
)
def test_quantities_are_readable(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_best_of_takes_turns_and_keeps_the_least() -> None:
    calls = []
    costs = {"a": iter([3.0, 1.0, 2.0]), "b": iter([5.0, 6.0, 4.0])}

    def cost(name: str) -> float:
        calls.append(name)
        return next(costs[name])

    best = best_of(3, {"a": lambda: cost("a"), "b": lambda: cost("b")})
    assert best == {"a": 1.0, "b": 4.0}
    assert calls == ["a", "b"] * 3


@pytest.fixture
def report() -> Report:
    rows = [
        Row("small", "rival", 20.0, 1e-6, 2e-5, target=Target(30), note="a | b"),
        Row("large", "rival", 40.0, 1e-6, 4e-5, target=Target(30)),
        Row("other", "missing", math.nan, note="not measured: not installed"),
    ]

    def measure(_: object) -> Iterator[Row]:
        return iter(rows)

    return Report("How.", ["a processor"], {Section("Speed", "What.", measure): rows})


def test_markdown_names_what_was_missed(report: Report) -> None:
    text = as_markdown(report)
    assert "Targets met: 1 of 2." in text
    assert "- small, rival: 20 (target ≥ 30)" in text
    assert "- large" not in text
    assert "| small | rival | 20 | ≥ 30 | NO | 1 µs | 20 µs | a \\| b |" in text
    assert "| other | missing | – |  |  | – | – | not measured: not installed |" in text


def test_csv_holds_the_same_rows_with_full_figures(report: Report) -> None:
    rows = list(csv.DictReader(as_csv(report).splitlines()))
    assert [row["case"] for row in rows] == ["small", "large", "other"]
    assert rows[0]["section"] == "Speed"
    assert float(rows[0]["ours"]) == 1e-6
    assert rows[0] | {"met": "NO", "unit": "s", "note": "a | b"} == rows[0]


def test_save_replaces_a_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.md"
    save(path, "one")
    save(path, "two")
    assert path.read_text() == "two"
    assert [found.name for found in path.parent.iterdir()] == ["file.md"]


def test_a_partial_run_is_saved_only_where_told(tmp_path: Path) -> None:
    assert bench.parse([]).output == bench.OUTPUTS
    assert bench.parse(["--quick"]).output == []
    assert bench.parse(["--only", "rounds"]).output == []
    path = tmp_path / "table.md"
    assert bench.parse(["--quick", "--output", str(path)]).output == [path]
    with pytest.raises(SystemExit):
        bench.parse(["--output", "table.txt"])
    with pytest.raises(SystemExit):
        bench.parse(["--only", "nothing"])


def test_main_writes_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "table.md", tmp_path / "table.csv"]
    bench.main(["--quick", "--only", "rounds", "--output", *map(str, paths)])
    assert "## Rounds" in paths[0].read_text()
    assert paths[0].read_text() in capsys.readouterr().out
    assert len(paths[1].read_text().splitlines()) == len(QUICK.rounds)


def test_linear_measures_every_shape_and_agrees_with_the_loop() -> None:
    rows = rows_of(linear.linear)
    assert [row.case for row in rows[::5]] == list(SHAPES)
    for row in rows:
        if row.note.startswith("not measured"):
            assert math.isnan(row.ratio)
        else:
            assert row.ratio == pytest.approx(row.theirs / row.ours)
    assert all(row.note.startswith("0 of ") for row in rows[::5])


def test_flops_are_those_of_the_decisions_taken() -> None:
    stream = linear_stream(DENSE_122, 200)
    greedy, ours = stream.lanes(["greedy"]), stream.lanes(["ours"], [0.5])
    n_greedy, n_ours = (int(stream.simulate(lanes).accepted[0]) for lanes in (greedy, ours))
    d, scores = 122, 2 * 122 * 200
    assert linear._flops(stream, greedy) == 4 * d * d * n_greedy + scores
    expected = 4 * d * d * n_ours + 2 * d * d * ((200 - n_ours) // 2) + scores
    assert linear._flops(stream, ours) == expected


def test_logistic_samples_true_refits_and_all_reach_the_optimum() -> None:
    stream = adult_stream(1_500)
    run = logistic._run(stream, 200, 3)
    assert run.n_refits == len(range(0, stream.n_rounds, 200))
    assert [refit.round_ for refit in run.refits] == [1, 4, 6]
    for refit in run.refits:
        n_learned = int(run.accepted[: (refit.round_ + 1) * 200].sum())
        assert len(refit.known) == stream.n_initial + n_learned
        for solver in (logistic.PLAIN, *logistic.SOLVERS[3:5]):
            assert logistic._measure(solver, stream, refit, 1)[1] < 1e-4
    assert logistic._own_error(run) < 1e-8


def test_a_disagreement_of_learner_and_engine_is_not_passed_over() -> None:
    run = logistic._run(adult_stream(1_000), 500, 1)
    with pytest.raises(RuntimeError, match="disagree in round 1"):
        logistic._own_error(replace(run, accepted=~run.accepted))


@pytest.mark.parametrize(
    "measure", [linear.bound, linear.sparse, scaling.threads, scaling.rounds, scaling.layout]
)
def test_other_sections_yield_positive_ratios(measure: object) -> None:
    rows = rows_of(measure)
    assert rows
    assert all(row.ratio > 0 and row.ours > 0 and row.theirs > 0 for row in rows)


def test_sgd_is_measured_and_what_is_extrapolated_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sgd, "LARGEST", 20)
    small, large, growth = rows_of(sgd.sgd)
    assert small.note == ""
    assert large.note == "`ours` extrapolated from d = 10"
    assert large.theirs == pytest.approx(small.theirs * 25)
    assert growth.ratio == pytest.approx(large.ours / small.ours)
    assert growth.target == Target(1.5 * 5, at_most=True)


def test_sgd_takes_every_row_and_moves_at_each() -> None:
    X = np.random.default_rng(0).standard_normal((30, 4))
    learner = sgd.OneSidedLearner(
        method=sgd.METHODS["sgd"], cutoff=sgd.ACCEPT_ALL, fit_intercept=False
    ).fit(X[:1], X[:1, 0])
    sgd._decide_and_learn(learner, X[1:], X[1:, 0])
    assert learner.n_seen_ == 29
    assert learner.model.n_updates_ == 30  # the warm start is a row like the others


def test_memory_is_that_of_the_run_not_of_its_parent() -> None:
    ballast = np.ones(50_000_000)
    found = in_fresh_process("benchmarks.memory", 67, 1_000)
    assert 0 < found["before"] <= found["peak"] < ballast.nbytes
    assert found["results"] > 0


def test_memory_grid_is_the_papers() -> None:
    lanes = memory._lanes(6_700, np.linspace(0.0, 1.0, 100))
    assert len(set(lanes)) == FULL.memory_lanes[1] == len(lanes)
    few = memory._lanes(67, np.linspace(0.0, 1.0, 100))
    assert {lane.method for lane in few} == {lane.method for lane in lanes}


def test_an_own_table_is_encoded_as_pandas_does_it(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    own_tables.write_csv(path, 500)
    X = own_tables.load(path).X
    np.testing.assert_allclose(X, own_tables.plainly(path), atol=1e-12)
    (row,) = rows_of(own_tables.own_tables, replace(TINY, csv_rows=200))
    assert row.case.startswith("CSV of 200 rows × 30 columns")
    assert row.ratio == row.ours / row.theirs
