"""What Hydra says of a command line it cannot compose, in one line with the near miss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hydra.errors import HydraException, MissingConfigException
from omegaconf import OmegaConf

from pipeline.cells.errors import explain
from pipeline.core.near_misses import closest
from pipeline.files import conf_dir

NONSENSE = (HydraException, ValueError, OSError)  # what a request can be refused with
KEY = re.compile(r"Could not override '(?P<key>[^']+)'")
LAUNCHERS = {"ray": "ray", "submitit_local": "slurm", "submitit_slurm": "slurm"}  # their extras
APPEND = re.compile(r"Could not append|multiple values|Key '(?P<key>[^']+)' is not in struct")


def explain_request(error: BaseException, overrides: Sequence[str] = ()) -> str:
    """Return one line for whatever makes a request impossible, of Hydra's own or not.

    Args:
        error: whatever was raised.
        overrides: the words of the command line, which tell what was chosen.
    """
    if isinstance(error, MissingConfigException):
        return _unknown_choice(error)
    if not isinstance(error, HydraException):
        return explain(error)
    text = f"{error} {error.__cause__ or ''}"
    found = KEY.search(text) or APPEND.search(text)
    key = found.group("key") if found and found.lastgroup else None
    if key is not None:
        return _unknown_key(key, overrides)
    return " ".join(str(error).split())


def _unknown_key(key: str, overrides: Sequence[str]) -> str:
    group, _, name = key.partition(".")
    having = [choice for choice, keys in _choices(group).items() if name in keys]
    if not having:
        known = config_keys()
        if not get_close_matches(key, known):  # then not all of them: there are hundreds
            known = [one for one in known if "." not in one]
        return f"there is no config key {key!r}{closest(key, known)}"
    lacking = [choice for choice in _chosen(group, overrides) if choice not in having]
    who = f"{group}={lacking[0]}" if lacking else f"the chosen {group}"
    others = " or ".join(f"{group}={choice}" for choice in having)
    return f"{who} has no key {key!r}: leave it out, or choose {others}"


def _choices(group: str) -> dict[str, set[str]]:
    """Return the choices of a config group and the keys of each."""
    files = sorted((conf_dir() / group).glob("*.yaml")) if group else []
    return {file.stem: set(_keys(_read(file))) for file in files}


def _chosen(group: str, overrides: Sequence[str]) -> list[str]:
    """Return what a command line chooses in a group: without a word, the default.

    None where an experiment may have chosen something else.
    """
    values = [word.partition("=") for word in overrides]
    said = [value for key, _, value in values if key == group]
    if said:
        return re.findall(r"\w+", said[-1])
    if any(key in ("experiment", "candidate") for key, _, _ in values):
        return []
    defaults = _read(conf_dir() / "config.yaml")["defaults"]
    return [str(one[group]) for one in defaults if isinstance(one, dict) and group in one]


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
    folders = [path.name for path in conf_dir().iterdir() if path.is_dir()]
    groups = [name for name in folders if name != "hydra"]
    inside = [
        f"{group}.{key}"
        for group in groups
        for file in sorted((conf_dir() / group).rglob("*.yaml"))
        for key in _keys(_read(file))
    ]
    return sorted({*_keys(_read(conf_dir() / "config.yaml")), *groups, *inside} - {"defaults"})


def _read(file: Path) -> Any:
    return OmegaConf.to_container(OmegaConf.load(file))


def _keys(config: Any, prefix: str = "") -> Iterable[str]:
    for key, value in config.items() if isinstance(config, dict) else ():
        yield f"{prefix}{key}"
        yield from _keys(value, f"{prefix}{key}.")
