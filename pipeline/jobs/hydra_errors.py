"""What Hydra says of a command line it cannot compose, in one line with the near miss."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hydra.errors import HydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf

from pipeline.core.names import closest
from pipeline.paths import conf_dir

KEY = re.compile(r"Could not override '(?P<key>[^']+)'")
LAUNCHERS = {"ray": "ray", "submitit_local": "slurm", "submitit_slurm": "slurm"}  # their extras
APPEND = re.compile(r"Could not append|multiple values|Key '(?P<key>[^']+)' is not in struct")


def explain_hydra(error: BaseException) -> str | None:
    """Return one line for an error of Hydra's own, None for any other."""
    if isinstance(error, MissingConfigException):
        return _unknown_choice(error)
    if not isinstance(error, HydraException):
        return None
    text = f"{error} {error.__cause__ or ''}"
    found = KEY.search(text) or APPEND.search(text)
    key = found.group("key") if found and found.lastgroup else None
    if key is not None:
        return f"there is no config key {key!r}{closest(key, config_keys())}"
    return " ".join(str(error).split())


def _unknown_choice(error: MissingConfigException) -> str:
    missing = str(error.missing_cfg_file or "")
    group, _, name = missing.rpartition("/")
    options = list(error.options or ())
    if group == "hydra/launcher" and name in LAUNCHERS:
        install = f"pip install .[{LAUNCHERS[name]}], or python3 scripts/bootstrap.py dev"
        return f"{group}={name} needs a package that is not installed: {install}"
    if not group or not options:
        return " ".join(str(error).split())
    return f"{group}={name}: there is no such {group}{closest(name, options)}"


def config_keys() -> list[str]:
    """Return the keys of ``conf/config.yaml`` and of its groups, dotted."""
    config = OmegaConf.load(conf_dir() / "config.yaml")
    assert isinstance(config, DictConfig)
    folders = [path.name for path in conf_dir().iterdir() if path.is_dir()]
    groups = [name for name in folders if name != "hydra"]
    inside = [
        f"{group}.{key}"
        for group in groups
        for file in sorted((conf_dir() / group).rglob("*.yaml"))
        for key in _keys(OmegaConf.load(file))
    ]
    return sorted({*_keys(config), *groups, *inside} - {"defaults"})


def _keys(config: object, prefix: str = "") -> Iterable[str]:
    if not isinstance(config, DictConfig):
        return
    for key in map(str, config):
        yield f"{prefix}{key}"
        yield from _keys(config._get_node(key), f"{prefix}{key}.")
