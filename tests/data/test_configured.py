from __future__ import annotations

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from pipeline.data.configured import all_names, load_config, load_named
from pipeline.data.errors import DataError
from pipeline.data.sources import Settings
from pipeline.files import conf_dir

OFFLINE = Settings.of(offline=True)


def test_every_config_of_the_group_has_its_own_name_and_says_how_to_use_it() -> None:
    for name in all_names():
        path = conf_dir() / "dataset" / f"{name}.yaml"
        assert OmegaConf.load(path).name == name
        assert path.read_text().startswith("# ")
    assert len(all_names()) == len(list((conf_dir() / "dataset").glob("*.yaml"))) == 14


def test_a_named_one() -> None:
    dataset = load_named("blood", "stated", OFFLINE)
    assert (dataset.name, dataset.protocol, dataset.source) == ("blood", "stated", "bundled")


def test_a_group_of_a_named_one() -> None:
    dataset = load_named("german", "inferred", OFFLINE, group="personal")
    assert dataset.group is not None
    assert dataset.group.names == ("A91", "A92", "A93", "A94")


def test_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    path.write_text("income,repaid\n" + "1.5,yes\n2.5,no\n" * 20)
    changes = {"path": str(path), "target": "repaid", "positive": "yes"}
    dataset = load_named("csv", "inferred", OFFLINE, **changes)
    assert (dataset.name, dataset.X.shape, dataset.y.sum()) == ("loans", (40, 1), 20)


def test_names_of_columns_may_look_like_numbers(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    path.write_text("1;2;3\n" + "1.5;a;1\n2.5;b;0\n" * 20)
    changes = {"path": str(path), "target": 3, "drop": 2, "separator": "semicolon"}
    assert load_named("csv", "inferred", OFFLINE, **changes).columns == ("1",)
    changes |= {"group": 2, "drop": []}
    group = load_named("csv", "inferred", OFFLINE, **changes).group
    assert group is not None
    assert group.names == ("a", "b")


def test_synthetic_ones() -> None:
    trap = load_named("greedy_trap", "inferred", OFFLINE, n=50, cutoff=0.3)
    assert (len(trap.y), trap.cutoff_value) == (50, 0.3)
    assert load_named("glm", "inferred", OFFLINE, d=3, n=50).X.shape == (50, 3)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("gml", {}, "there is no dataset 'gml'; did you mean 'glm'"),
        ("csv", {"target": "y"}, "^dataset.path is not set$"),
        ("csv", {"path": "x", "target": "y", "seperator": ";"}, "did you mean 'separator'"),
        ("openml", {}, "^dataset.data_id is not set$"),
        ("openml", {"data_id": 31}, "forbidden by data.offline=true"),
    ],
)
def test_errors(name: str, changes: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_named(name, "inferred", OFFLINE, **changes)


def test_a_config_without_a_name() -> None:
    with pytest.raises(DataError, match="needs a name"):
        load_config({"d": 3}, "inferred", OFFLINE)
