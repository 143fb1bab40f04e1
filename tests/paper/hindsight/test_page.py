from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.paper.__main__ import main
from pipeline.paper.collection import Collection, CollectionError
from pipeline.paper.hindsight.held_out import CELL_COLUMNS, both_ways, gap_commands, joined
from pipeline.paper.hindsight.page import page
from pipeline.paper.hindsight.picture import hindsight_figure
from pipeline.paper.published import METHODS
from tests.paper.made_up_collection import without
from tests.paper.made_up_paper import full_collection, part_of

REPORTED, FRESH = range(10), range(10, 20)


@pytest.fixture(scope="module")
def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    return both_ways(full_collection().losses, "inferred")


def gappy() -> Collection:
    """Return results that lack two methods somewhere, and greedy's fresh splits elsewhere."""
    collection = without(full_collection(), dataset="bank", link="linear", method="ours")
    losses = collection.losses
    greedy = (losses["dataset"] == "churn") & (losses["method"] == "greedy")
    fresh = greedy & (losses["link"] == "logistic") & (losses["split"] >= 10)
    return Collection(collection.cells, losses[~fresh], collection.curves)


def test_there_is_a_line_for_each_cell_of_tables_1_and_2(frames: tuple[pd.DataFrame, ...]) -> None:
    cells, overall = frames
    assert tuple(cells.columns) == CELL_COLUMNS
    assert len(cells) == 40 * 7
    assert (cells["state"] == "done").all()
    assert len(overall) == 2 * 7
    assert (overall["n_settings"] == 20).all()


def test_hindsight_is_what_the_cells_report(frames: tuple[pd.DataFrame, ...]) -> None:
    labels = ["link", "dataset", "cutoff", "method"]
    both = frames[0].merge(full_collection().cells, on=labels)
    np.testing.assert_allclose(both["loss_hindsight"], both["loss"])
    np.testing.assert_array_equal(both["alpha_hindsight"], both["alpha"])


def test_greedy_has_no_alpha_and_no_advantage(frames: tuple[pd.DataFrame, ...]) -> None:
    greedy = frames[0][frames[0]["method"] == "greedy"]
    assert (greedy[["advantage_hindsight", "advantage_held_out"]] == 0).all(axis=None)
    assert greedy["survives"].isna().all()


def test_overall_is_the_mean_over_settings(frames: tuple[pd.DataFrame, ...]) -> None:
    cells, overall = frames
    for row in overall.to_dict("records"):
        part = cells[(cells["link"] == row["link"]) & (cells["method"] == row["method"])]
        for name in ("advantage_held_out", "ours_beats_hindsight"):
            assert row[name] == pytest.approx(part[name].mean(), nan_ok=True)
        if row["method"] != "greedy":
            share = part["advantage_held_out"].mean() / part["advantage_hindsight"].mean()
            assert row["survives"] == pytest.approx(share)
            assert row["survives_low"] <= row["survives"] <= row["survives_high"]


def test_intervals_hold_their_figures(frames: tuple[pd.DataFrame, ...]) -> None:
    for frame in frames:
        for way in ("hindsight", "held_out"):
            value, low, high = (frame[f"advantage_{way}{end}"] for end in ("", "_low", "_high"))
            assert ((low <= value) & (value <= high)).all()


def test_a_gap_says_what_is_lacking_and_how_to_fill_it() -> None:
    cells, overall = both_ways(gappy().losses, "inferred")
    gaps = cells[cells["state"] == "missing"]
    assert len(gaps) == 2 + 2 * 7
    ours = gaps[gaps["dataset"] == "bank"].iloc[0]
    assert ours["missing"] == "splits 0-9 and splits 10-19"
    assert "dataset=bank link=linear cutoff=0.5 method=ours; python" in ours["command"]
    noise = gaps[(gaps["dataset"] == "churn") & (gaps["method"] == "noise")].iloc[0]
    assert noise["missing"] == "greedy on splits 10-19"
    assert noise["command"].endswith("method=greedy 'splits=[10,11,12,13,14,15,16,17,18,19]'")
    figures = [name for name in CELL_COLUMNS if name.startswith(("loss", "advantage", "alpha"))]
    assert gaps[figures].isna().all(axis=None)
    commands = gap_commands(cells)
    assert len(commands) == 3
    assert sum("'splits=[10,11" in line for line in commands) == 2
    text = page(cells, overall, commands).markdown()
    assert "16 of 280 cells are left out" in text
    assert all(line in text for line in commands)


def test_the_page_has_the_figures_of_the_frames(frames: tuple[pd.DataFrame, ...]) -> None:
    cells, overall = frames
    text = page(cells, overall, []).markdown()
    assert "Missing" not in text
    ours = overall[(overall["link"] == "linear") & (overall["method"] == "ours")].iloc[0]
    assert f"| ours | {ours['advantage_hindsight']:.1%} [" in text
    for before, line in zip(text.splitlines(), text.splitlines()[1:], strict=False):
        if before.startswith("|") and line.startswith("|"):
            assert before.count("|") == line.count("|")


def test_a_page_without_results_says_so() -> None:
    cells, overall = both_ways(full_collection().losses.head(0), "inferred")
    text = page(cells, overall, gap_commands(cells)).markdown()
    assert text.count("No setting has all it takes") == 2


def test_the_figure_has_a_panel_a_method_and_marks_gaps() -> None:
    figure = hindsight_figure(both_ways(gappy().losses, "inferred")[0])
    assert len(figure.axes) == 2 * (len(METHODS) - 1)
    notes = [sum(text.get_text() == " missing" for text in axis.texts) for axis in figure.axes]
    assert notes == [0] * 5 + [2] + [2] * 6


def test_an_arrow_head_marks_each_interval_that_the_frame_cuts() -> None:
    cells = both_ways(full_collection().losses, "inferred")[0]
    rivals = cells.index[(cells["method"] != "greedy") & (cells["link"] == "linear")]
    cells.loc[rivals[0], "advantage_held_out_low"] = -50.0
    cells.loc[rivals[:2], "advantage_held_out_high"] = 50.0
    figure = hindsight_figure(cells)
    cut = {"<": 0, ">": 0}
    for axis in figure.axes:
        low, high = axis.get_xlim()
        bars = [line.get_xdata() for line in axis.lines if line.get_marker() == "|"]
        heads = {m: [x for x in axis.lines if x.get_marker() == m] for m in cut}
        assert len(heads["<"]) == sum(ends[0] < low for ends in bars)
        assert len(heads[">"]) == sum(ends[1] > high for ends in bars)
        assert all(line.get_xdata()[0] == low for line in heads["<"])
        assert all(line.get_xdata()[0] == high for line in heads[">"])
        assert not any(line.get_clip_on() for heads_of in heads.values() for line in heads_of)
        cut = {m: cut[m] + len(heads[m]) for m in cut}
    assert cut["<"] >= 1
    assert cut[">"] >= 2
    (legend,) = figure.legends
    assert "it goes on beyond the frame" in [text.get_text() for text in legend.get_texts()]


def test_no_interval_ends_so_near_the_frame_that_it_seems_cut() -> None:
    cells = both_ways(full_collection().losses, "inferred")[0]
    rivals = cells.index[(cells["method"] != "greedy") & (cells["link"] == "linear")]
    low, high = hindsight_figure(cells).axes[0].get_xlim()
    cells.loc[rivals[0], "advantage_held_out_low"] = low + 1e-4
    cells.loc[rivals[1], "advantage_held_out_high"] = high - 1e-4
    axes = hindsight_figure(cells).axes[: len(METHODS) - 1]
    bars = [line.get_xdata() for axis in axes for line in axis.lines if line.get_marker() == "|"]
    frame = np.array(axes[0].get_xlim())
    assert np.abs(np.concatenate(bars)[:, None] - frame).min() > 0.02 * (frame[1] - frame[0])


def test_fresh_splits_may_come_from_a_collection_of_their_own() -> None:
    whole = full_collection()
    both = joined(part_of(whole, REPORTED), part_of(whole, FRESH))
    assert len(both.losses) == len(whole.losses)
    with pytest.raises(CollectionError, match="both collections have a loss of inferred adult"):
        joined(whole, part_of(whole, FRESH))


def test_the_command_writes_the_same_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part_of(full_collection(), REPORTED).write(tmp_path / "paper")
    part_of(full_collection(), FRESH).write(tmp_path / "fresh")
    inputs = ["--collection", str(tmp_path / "paper"), "--fresh", str(tmp_path / "fresh")]
    assert main(["hindsight", *inputs, "--out", str(tmp_path / "a")]) == 0
    assert "missing" not in capsys.readouterr().out
    monkeypatch.setattr("pipeline.paper.hindsight.page.save_all", lambda *_: None)  # it is slow
    assert main(["hindsight", *inputs, "--out", str(tmp_path / "b")]) == 0
    texts = ["hindsight.csv", "hindsight.md", "hindsight_overall.csv"]
    found = {path.name for path in (tmp_path / "a").iterdir()}
    assert found == {*texts, "hindsight.pdf", "hindsight.png"}
    for name in texts:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    written = pd.read_csv(tmp_path / "a" / "hindsight.csv")
    assert set(np.log2(written[written["method"] != "greedy"]["alpha_held_out"]) % 1) == {0.0}


def test_without_fresh_splits_the_command_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pipeline.paper.hindsight.page.save_all", lambda *_: None)
    part_of(full_collection(), REPORTED).write(tmp_path / "paper")
    out = ["--out", str(tmp_path / "out")]
    assert main(["hindsight", "--collection", str(tmp_path / "paper"), *out]) == 0
    printed = capsys.readouterr().out
    assert printed.count("'splits=[10,11,12,13,14,15,16,17,18,19]'") == 2
    assert set(pd.read_csv(tmp_path / "out" / "hindsight.csv")["state"]) == {"missing"}
