"""What help pages take from a config: every key, with the comment beside it."""

from __future__ import annotations

from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from pipeline.command_line import Setting, read_settings
from pipeline.files import conf_dir

CONFIG = conf_dir() / "config.yaml"


def test_every_key_of_the_config_is_read_with_its_comment() -> None:
    config = OmegaConf.load(CONFIG)
    assert isinstance(config, DictConfig)
    found = [one for one in read_settings(CONFIG) if one.section != "hydra"]
    keys = {f"{one.section}.{one.key}" if one.section else one.key: one.value for one in found}
    chosen = [one for one in config.defaults if isinstance(one, DictConfig)]
    groups = {str(key): one[key] for one in chosen for key in one if "override" not in str(key)}
    wanted = {f"defaults.{key}": value for key, value in groups.items()}
    wanted |= {f"data.{key}": value for key, value in config.data.items()}
    left = set(config) - {"defaults", "data", "hydra"}
    wanted |= {str(key): config[key] for key in left}
    assert {key: OmegaConf.create(f"x: {value}").x for key, value in keys.items()} == wanted
    assert [one.key for one in found if not one.about] == []


def test_what_a_line_may_look_like(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    text = "# a: b # c\na: 1 # one # two\nb:\n  - c: d\n  - _self_\n  e: '#1' # f\ng: null\n"
    file.write_text(text)
    assert list(read_settings(file)) == [
        Setting("", "a", "1", "one # two"),
        Setting("b", "c", "d", ""),
        Setting("", "g", "null", ""),
    ]
