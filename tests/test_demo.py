from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from pipeline import demo
from pipeline.core.tuning import Tuned
from pipeline.paths import conf_dir


@pytest.fixture
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_main_job_prints_seven_methods_and_draws(
    in_empty_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo.main()
    printed = capsys.readouterr().out
    for label in ("greedy", "ε-greedy", "os ε-greedy", "noise", "os noise", "margin", "ours"):
        assert f" {label}" in printed
    config = OmegaConf.load(conf_dir() / "demo.yaml")
    with (in_empty_folder / "outputs/demo/losses.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(config.methods) * len(config.cutoffs) * len(config.batch_size)
    assert all(float(row["loss"]) > 0 for row in rows)
    assert f"{float(rows[0]['loss']):.2f} ± {float(rows[0]['standard_error']):.2f}" in printed
    picture = in_empty_folder / "outputs/demo/average_loss.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture.relative_to(in_empty_folder)) in printed


@pytest.mark.usefixtures("in_empty_folder")
def test_the_readme_shows_what_the_demo_prints(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    number = r"\d+\.\d\d(?= ±)"
    printed = [float(text) for text in re.findall(number, capsys.readouterr().out)]
    readme = (Path(demo.__file__).parents[1] / "README.md").read_text()
    shown = [float(text) for text in re.findall(number, readme)]
    np.testing.assert_allclose(shown, printed, atol=0.05)


def test_exploring_pays_in_the_linear_demo(in_empty_folder: Path) -> None:
    demo.main()
    with (in_empty_folder / "outputs/demo/losses.csv").open() as file:
        rows = [
            row for row in csv.DictReader(file) if (row["link"], row["cutoff"]) == ("linear", "0.5")
        ]
    loss = {row["method"]: float(row["loss"]) for row in rows}
    assert loss["ours"] < loss["greedy"]


def test_the_best_mean_is_bold_and_ties_are_too() -> None:
    def cell(method: str, mean: float) -> Tuned:
        return Tuned(method, 0.0, 0.25, np.arange(2), mean, 0.1)

    rows = {("linear", 0.5): [cell("greedy", 2.0), cell("ours", 1.0), cell("margin", 1.0)]}
    line = list(demo.table(rows, bold=True))[1]
    assert line.count(demo.BOLD) == 2
    assert line.index(demo.BOLD) > line.index("2.00")
    assert demo.BOLD not in "".join(demo.table(rows, bold=False))


@pytest.mark.parametrize(("alpha", "text"), [(0.0, "–"), (0.25, "1/4"), (1.0, "1"), (16.0, "16")])
def test_alphas_read_as_powers_of_two(alpha: float, text: str) -> None:
    assert demo.power_of_two(alpha) == text
