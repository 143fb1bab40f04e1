from __future__ import annotations

import dataclasses
import errno
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.core.loss import cutoff_at
from pipeline.data.__main__ import main
from pipeline.data.dataset import load_spec
from pipeline.data.describe import Scores, _beyond, _spread, draw_scores, scores_figure
from pipeline.data.sources.settings import RAW, Settings
from pipeline.data.spec import dataset_names, read_spec

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RAW)
    monkeypatch.chdir(tmp_path)


def test_list(capsys: Output) -> None:
    assert main(["list"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    names = ["dataset", "rows", "columns", "positives", "source", "now", "licence"]
    assert header.split() == names
    assert [line.split()[0] for line in lines] == dataset_names()
    assert max(map(len, lines)) <= 100
    (blood,) = [line for line in lines if line.startswith("blood")]
    for part in ("748", " 4 ", "178 (24%)", "OpenML 1464", "bundled", "CC BY 4.0"):
        assert part in blood
    assert sum(" bundled " in line for line in lines) == 10


@pytest.mark.usefixtures("not_bundled")
def test_list_names_the_mirror(mirror: Path, capsys: Output) -> None:
    assert main(["list", "--protocol", "stated"]) == 0
    assert capsys.readouterr().out.count(" to fetch ") == 10
    assert main(["list", "--mirror", str(mirror), "--protocol", "stated"]) == 0
    assert capsys.readouterr().out.count(" mirror ") == 10


def test_fetch_writes_the_raw_table_and_nothing_else(capsys: Output) -> None:
    assert main(["fetch", "blood", "german", "--offline"]) == 0
    assert sorted(path.name for path in Path("data/raw").iterdir()) == [
        "blood.parquet", "german.parquet",
    ]  # fmt: skip
    assert len(pd.read_parquet("data/raw/blood.parquet")) == 748
    assert "748 rows ×   5 raw columns from bundled" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "files"),
    [
        ([], ["compas.parquet", "compas_scores.parquet"]),
        (["--protocol", "inferred"], ["compas.parquet"]),
        (["--protocol", "stated"], ["compas_scores.parquet"]),
    ],
)
def test_fetch_writes_what_the_protocols_need(options: list[str], files: list[str]) -> None:
    assert main(["fetch", "compas", "--offline", *options]) == 0
    assert sorted(path.name for path in Path("data/raw").iterdir()) == files
    only_raw = dataclasses.replace(Settings.of(), only_raw=True)
    for protocol in options[1:] or ["inferred", "stated"]:
        assert load_spec(read_spec("compas"), protocol, only_raw).source == "data/raw"


@pytest.mark.usefixtures("not_bundled")
def test_what_was_fetched_is_found_again(mirror: Path, capsys: Output) -> None:
    assert main(["fetch", "compas", "--mirror", str(mirror)]) == 0
    assert main(["fetch", "compas", "--offline", "--protocol", "inferred"]) == 0
    assert "from data/raw" in capsys.readouterr().out
    main(["list", "--offline"])
    listed = capsys.readouterr().out
    assert listed.count("data/raw") == 1
    assert listed.count("not here") == 9


def test_a_bad_raw_file_is_not_kept(capsys: Output) -> None:
    assert main(["fetch", "churn", "--offline"]) == 0
    path = Path("data/raw/churn.parquet")
    frame = pd.read_parquet(path)
    frame.loc[0, "state"] += 1
    frame.to_parquet(path)
    assert main(["check", "--protocol", "inferred", "--source", "data/raw"]) == 1
    assert "BAD" in capsys.readouterr().out
    assert not path.exists()


@pytest.mark.usefixtures("not_bundled")
def test_one_failure_does_not_stop_the_others(mirror: Path, capsys: Output) -> None:
    shutil.copytree(mirror / "blood", "part/blood")
    assert main(["fetch", "compas", "blood", "--offline", "--mirror", "part"]) == 1
    assert Path("data/raw/blood.parquet").is_file()
    assert "error: compas: table compas_two_years could not be found" in capsys.readouterr().err
    assert main(["check", "--protocol", "stated"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "1 ok, 9 absent"
    assert "not here: python -m pipeline.data fetch compas --protocol stated" in out


def test_check_checks_all_tables(capsys: Output) -> None:
    assert main(["check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "20 ok"
    assert sum(line.endswith("ok, bundled") for line in lines) == 20


def test_check_takes_the_tables_from_a_source_that_is_named(mirror: Path, capsys: Output) -> None:
    named = ["check", "--protocol", "stated", "--source"]
    assert main([*named, "mirror", "--mirror", str(mirror)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "10 ok"
    assert out.count("ok, mirror\n") == 10
    assert main([*named, "openml", "--offline"]) == 0
    assert "not here: openml does not have it\n10 absent\n" in capsys.readouterr().out
    assert main([*named, "mirror"]) == 1
    assert capsys.readouterr().err.startswith("error: no mirror is set: --mirror FOLDER, or $ONES")


def test_describe(capsys: Output) -> None:
    assert main(["describe", "adult", "--group", "sex", "--offline"]) == 0
    out = capsys.readouterr().out
    for part in (
        "rows      48,842",
        "11,687 label 1 (23.9%), 37,155 label 0",
        "6,465 raw values: occupation 2,809, workclass 2,799, native_country 857",
        "groups    Female 16,192, Male 32,650",
        "50%     55%",
        "  sex: Female | Male",
        "picture   outputs/data/adult_inferred_linear.png",
    ):
        assert part in out
    assert max(map(len, out.splitlines())) <= 100
    assert Path("outputs/data/adult_inferred_linear.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in Path("outputs/data").iterdir()] == ["adult_inferred_linear.png"]


def test_describe_an_own_file_and_a_synthetic_one(capsys: Output) -> None:
    Path("loans.csv").write_text("income,sex,repaid\n" + "1.5,f,yes\n2.5,m,no\n3,m,yes\n" * 20)
    own = ["--target", "repaid", "--positive", "yes", "--group", "sex", "--link", "logistic"]
    assert main(["describe", "loans.csv", *own]) == 0
    assert "label 1: repaid = yes (66.7% of 60 rows); label 0: no" in capsys.readouterr().out
    assert main(["describe", "greedy_trap", "--output", "trap.png"]) == 0
    assert Path("trap.png").is_file()


def test_names_in_a_table_do_not_command_the_terminal(capsys: Output) -> None:
    Path("t.csv").write_text("\x1b[31mred,job,sex,y\n" + "1.5,\x1b[2Ja,\x1b[1mf,1\n2,b,m,0\n" * 20)
    assert main(["describe", "t.csv", "--target", "y", "--group", "sex"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "job: �[2Ja | b" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["describe", "adlt"], "error: there is no dataset 'adlt'; did you mean 'adult'?"),
        (["fetch", "adlt"], "error: there is no dataset 'adlt'; did you mean 'adult'?"),
        (["describe", "no.csv", "--target", "y"], "error: there is no file no.csv"),
        (["describe", "no.csv"], "error: dataset.target is not set"),
        (["describe", "blood", "--drop", "x"], "error: --drop is for tables of your own; blood is"),
        (["describe", "blood", "--group", "sex"], "error: there is no column 'sex' to group by"),
    ],
)
def test_failures_are_one_clear_line(arguments: list[str], message: str, capsys: Output) -> None:
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(message)
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("/proc/x.png", "error: /proc/x.png cannot be written: No such file or directory; name"),
        ("folder", "error: folder is a folder; name a picture in it: folder/scores.png"),
        ("pic.xyz", "error: pic.xyz does not end as a picture does: .png, .pdf"),
        ("pic", "error: pic does not end as a picture does: .png, .pdf"),
    ],
)
def test_a_picture_that_cannot_be_written(output: str, message: str, capsys: Output) -> None:
    Path("folder").mkdir()
    assert main(["describe", "blood", "--output", output]) == 1
    err = capsys.readouterr().err
    assert err.startswith(message)
    assert err.count("\n") == 1
    assert [path.name for path in Path().rglob("*") if path.name != "cache"] == ["folder"]


def test_describe_on_a_full_disk(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full_disk)
    assert main(["describe", "blood", "--output", "here/p.png"]) == 1
    assert capsys.readouterr().err == (
        "error: here/p.png cannot be written: No space left on device; "
        "name another file with --output\n"
    )
    assert list(Path("here").iterdir()) == []


def full_disk(_: object, path: Path, **__: object) -> None:
    path.write_bytes(b"a part")
    raise OSError(errno.ENOSPC, "No space left on device")


def test_fetch_to_where_nothing_can_be_written(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RAW, "/proc/raw")
    assert main(["fetch", "blood", "german", "--offline"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    for name, line in zip(("blood", "german"), lines, strict=True):
        path = f"/proc/raw/{name}.parquet"
        assert line.startswith(f"error: {name}: {path} cannot be written: No such file")
        assert line.endswith(f"set ${RAW} to another folder")


def test_fetch_on_a_full_disk(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyarrow.parquet.write_table", full_disk)
    assert main(["fetch", "blood", "german", "--offline"]) == 1
    err = capsys.readouterr().err
    assert err.count("No space left on device; free some space") == err.count("\n") == 2
    assert list(Path("data/raw").iterdir()) == []


@pytest.mark.usefixtures("not_bundled")
def test_fetch_goes_on_after_a_file_that_cannot_be_read(
    mirror: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Path.read_bytes

    def denied(path: Path) -> bytes:
        if path.parent.name == "churn":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert main(["fetch", "churn", "blood", "--mirror", str(mirror)]) == 1
    assert re.fullmatch(r"error: churn: .*Permission denied: '.*'\n", capsys.readouterr().err)
    assert Path("data/raw/blood.parquet").is_file()


def test_describe_takes_every_option_that_messages_name(capsys: Output) -> None:
    Path("loans.csv").write_text("a|income|id\n" + "1.5|300|7\n2.5|500|8\n3|900|9\n" * 20)
    own = ["--target", "income", "--above", "400", "--separator", "pipe"]
    assert main(["describe", "loans.csv", *own, "--drop", "id"]) == 0
    out = capsys.readouterr().out
    assert "label 1: income = above 400 (66.7% of 60 rows)" in out
    assert "2 columns make" not in out
    for wrong, message in (
        (["--drop", "idd"], "loans.csv: there is no column 'idd' (dataset.drop)"),
        (["--above", "x"], "loans.csv: dataset.above=x is not a number"),
        (["--separator", ";;"], "dataset.separator=';;' is not one character; known names: comma"),
    ):
        assert main(["describe", "loans.csv", *own, *wrong]) == 1
        assert capsys.readouterr().err.startswith(f"error: {message}")


def test_cutoff_labels_keep_their_distance() -> None:
    places = _spread(np.array([0.5, 0.5, 0.51, 0.9]), gap=0.1, low=0.0, high=1.0)
    assert (np.diff(places) >= 0.1 - 1e-12).all()
    assert places[3] == pytest.approx(0.9)
    crowded = _spread(np.full(4, 1.0), gap=0.1, low=0.0, high=1.0)
    assert crowded[-1] <= 1 + 1e-12


def test_the_picture_marks_the_ten_cutoffs_and_counts_what_it_does_not_show() -> None:
    rng = np.random.default_rng(0)
    truth = np.append(rng.normal(size=999), 50.0)
    shares = np.arange(0.5, 1.0, 0.05).round(2).tolist()
    cutoffs = {share: cutoff_at(truth, share) for share in shares}
    y = (rng.random(1000) < 0.3).astype(float)
    figure = scores_figure(Scores("t", "score", truth, y, cutoffs))
    (axis,) = figure.axes
    ends = [line.get_xdata() for line in axis.lines]
    upright = [float(x[0]) for x in ends if len(x) == 2 and x[0] == x[1]]
    assert upright == list(cutoffs.values())
    assert [text.get_text() for text in axis.texts] == [f"{share:.0%}" for share in shares]
    shown = sum(patch.get_height() for patch in axis.patches)
    beyond = int(((truth < axis.get_xlim()[0]) | (truth > axis.get_xlim()[1])).sum())
    assert shown == 1000 - beyond
    assert axis.get_xlabel() == f"score ({beyond} rows lie beyond the ends)"


@pytest.mark.parametrize(
    ("high", "text"),
    [(3.0, ""), (2.0, " (1 row lies beyond the ends)"), (1.0, " (2 rows lie beyond the ends)")],
)
def test_rows_beyond_the_ends_are_counted(high: float, text: str) -> None:
    scores = Scores("t", "score", np.array([1.0, 2.0, 3.0]), np.ones(3), {})
    assert _beyond(scores, 0.0, high) == text


def test_equal_scores_can_be_drawn(tmp_path: Path) -> None:
    cutoffs = dict.fromkeys((0.5, 0.95), 1.0)
    scores = Scores("t", "score", np.ones(10), np.arange(10.0) % 2, cutoffs)
    draw_scores(scores, tmp_path / "p.png")
    assert (tmp_path / "p.png").is_file()
