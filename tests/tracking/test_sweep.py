"""What a sweep and its runs are called in MLflow, how they are told apart, what is summed up."""

from typing import Any

import pytest

from pipeline.results.journal import Run
from pipeline.tracking.sweep import LONGEST_NAME, MOST_METHODS, Sweep, content_of
from pipeline.view.style import LOOKS

ONE = {
    "protocol": ["inferred"],
    "dataset": ["diabetes"],
    "link": ["linear"],
    "cutoff": ["0.5", "0.7"],
    "method": ["ours", "margin"],
    "splits": ["0-9"],
    "seed": ["0"],
}


def sweep(**content: list[str]) -> Sweep:
    return Sweep({"sweep": "today", "many": True, "content": {**ONE, **content}})


def run(number: int = 0, loss: float | None = None, **labels: str) -> Run:
    nouns = {noun: values[0] for noun, values in ONE.items() if noun not in ("splits", "seed")}
    summary = None if loss is None else {"loss": loss}
    state: Any = "failed" if loss is None else "computed"
    return Run(number, state, {**nouns, **labels}, summary=summary, seconds=1.5)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ({}, "diabetes linear · ours, margin · 50%, 70%"),
        ({"dataset": ["blood", "bank"]}, "blood, bank · linear · ours, margin · 50%, 70%"),
        ({"link": ["linear", "logistic"]}, "diabetes linear, logistic · ours, margin · 50%, 70%"),
        ({"method": list(LOOKS)}, f"diabetes linear · {len(LOOKS)} methods · 50%, 70%"),
        (
            {noun: [str(k / 10) for k in range(9)] for noun in ("dataset", "cutoff")},
            "9 datasets · linear · ours, margin · 9 cutoffs",
        ),
        ({"cutoff": ["value_0.3"]}, "diabetes linear · ours, margin · c = 0.3"),
    ],
)
def test_a_sweep_is_named_by_what_it_is_about(content: dict[str, list[str]], name: str) -> None:
    assert sweep(**content).name == name


def test_its_name_is_short_whatever_things_are_called() -> None:
    long = [letter * 300 for letter in "abc"]
    assert len(sweep(dataset=long, method=long).name) <= LONGEST_NAME
    assert all(len(value) <= 500 for value in sweep(dataset=long).params.values())


def test_a_sweep_of_which_nothing_could_be_read_is_named_by_its_time() -> None:
    assert Sweep({"sweep": "20260101-000000", "content": {}}).name == "sweep 20260101-000000"


def test_its_params_are_the_nouns() -> None:
    assert sweep().params == {
        "protocol": "inferred",
        "dataset": "diabetes",
        "link": "linear",
        "cutoff": "0.5, 0.7",
        "method": "ours, margin",
        "splits": "0-9",
        "seed": "0",
    }


def test_runs_are_named_by_what_differs() -> None:
    assert sweep().run_name(run()) == "ours 50%"
    assert sweep().run_name(run(cutoff="0.7", method="os_noise")) == "os-noise 70%"
    two = sweep(dataset=["blood", "diabetes"], link=["linear", "logistic"])
    assert two.run_name(run(dataset="blood")) == "ours 50% blood linear"
    assert sweep(seed=["0", "1"]).run_name(run(), "1") == "ours 50% seed 1"


def test_a_run_without_a_parent_says_all() -> None:
    alone = Sweep({"many": False, "content": ONE})
    assert alone.run_name(run()) == "ours 50% diabetes linear"


def test_what_else_is_swept_is_in_the_name() -> None:
    overrides = [
        [f"method={method}", f"protocol.delay={delay}", "splits=4"]
        for method in ("ours", "margin")
        for delay in (0, 5)
    ]
    found = Sweep({"many": True, "content": ONE, "overrides": overrides})
    assert found.run_name(run(1)) == "ours 50% protocol.delay=5"
    losses = [run(k, k + 1.0, method=m) for k, m in enumerate(("ours", "ours", "margin", "margin"))]
    metrics = found.metrics(losses, 0)
    assert (metrics["mean_loss_ours"], metrics["mean_loss_margin"]) == (1.5, 3.5)
    assert metrics["settings_won_ours"] == 2


def test_cutoffs_of_a_method_have_shades_of_its_colour() -> None:
    cutoffs = [str(k / 20) for k in range(10, 19)]
    many = sweep(cutoff=cutoffs)
    for method, look in LOOKS.items():
        shades = [many.colour(run(cutoff=cutoff, method=method)) for cutoff in cutoffs]
        assert shades[0] == look.colour
        assert len(set(shades)) == len(cutoffs)
        assert all(len(shade) == 7 for shade in shades)
    assert sweep(cutoff=["0.5"]).colour(run()) == LOOKS["ours"].colour


def test_means_are_over_what_all_methods_have() -> None:
    runs = [
        run(0, 4.0, method="ours"),
        run(1, 5.0, method="margin"),
        run(2, 1.0, method="ours", cutoff="0.7"),
        run(3, None, method="margin", cutoff="0.7"),
    ]
    assert sweep().metrics(runs, 1) == {
        "sweep_cells": 4,
        "sweep_failed": 1,
        "sweep_seconds": 6.0,
        "mean_loss_ours": 4.0,
        "settings_won_ours": 1,
        "mean_loss_margin": 5.0,
        "settings_won_margin": 0,
    }


def test_a_sweep_without_a_result_has_figures_too() -> None:
    assert sweep().metrics([run()], 1)["sweep_failed"] == 1


def test_the_number_of_figures_is_bounded() -> None:
    runs = [run(k, 1.0, method=f"m{k}") for k in range(100)]
    assert len(sweep().metrics(runs, 0)) == 3 + 2 * MOST_METHODS


def test_content_is_each_value_once() -> None:
    assert content_of([{"a": "1", "b": "2"}, {"a": "1", "b": "3"}]) == {"a": ["1"], "b": ["2", "3"]}
