"""Compose the configs of many cells as Hydra does, without composing each.

Hydra takes 0.1 s for a config. Overrides of plain values come last and can be applied to a copy;
a group that nothing else depends on (most: dataset, method) need not be composed in every
combination with the others. What cannot be shown to be independent is composed as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.types import Override
from hydra.errors import ConfigCompositionException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import ConfigAttributeError, ConfigKeyError

from pipeline.cells.read import plain

Choices = Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Composed:
    """A composed config and what it was made of.

    Attributes:
        config: without the node ``hydra``.
        parts: path and package of every file.
    """

    config: DictConfig
    parts: frozenset[tuple[str, str]]
    _plain: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def fixed(self) -> bool:
        """Tell whether no value refers to another one."""
        return "${" not in str(OmegaConf.to_container(self.config, resolve=False))

    def plain(self, key: str) -> Any:
        """Return the plain values of a top-level key."""
        if key not in self._plain:
            self._plain[key] = plain(OmegaConf.masked_copy(self.config, [key]))[key]
        return self._plain[key]

    def node(self, key: str) -> Any:
        """Return a copy of a top-level node, as it was composed."""
        return dict(OmegaConf.masked_copy(self.config, [key]).items_ex(resolve=False))[key]


@dataclass
class Composer:
    """Composes configs that differ in their choices of config groups.

    Attributes:
        loader: Hydra's.
        fixed: overrides every config has: those of Hydra itself.
        groups: the groups to choose in, and the values that will be asked for.
        folders: of configs, in the order in which Hydra looks into them.
    """

    loader: ConfigLoader
    fixed: Sequence[str]
    groups: Mapping[str, Sequence[str]]
    folders: Sequence[Path]
    _made: dict[tuple[str, ...], Composed] = field(default_factory=dict)

    def values(self, choices: Choices, overrides: Sequence[Override]) -> dict[str, Any]:
        """Return the plain config of some choices with overrides of plain values."""
        sources = self._sources(choices)
        fixed = all(source.fixed for source in set(sources.values()))
        fixed = fixed and not any("${" in str(override.input_line) for override in overrides)
        touched = {_top_key(override) for override in overrides} if fixed else set(sources)
        rest = {key: source.plain(key) for key, source in sources.items() if key not in touched}
        nodes = {key: source.node(key) for key, source in sources.items() if key in touched}
        part = OmegaConf.create(nodes)
        OmegaConf.set_struct(part, True)
        for override in overrides:
            apply(override, part)
        return {**rest, **plain(part)}

    def _sources(self, choices: Choices) -> dict[str, Composed]:
        """Return for each top-level key the composed config to take it from."""
        free = self._independent
        base = self._compose({**choices, **{group: self._first[group] for group in free}})
        sources = {str(key): base for key in base.config if key not in free}
        for group in free:
            made = self._compose({**self._first, group: choices[group]})
            if group in made.config:
                sources[group] = made
        return sources

    @cached_property
    def _first(self) -> dict[str, str]:
        return {group: values[0] for group, values in self.groups.items()}

    @cached_property
    def _independent(self) -> frozenset[str]:
        """Return the groups whose choice changes their own key, whatever the others are."""
        varied = [group for group, values in self.groups.items() if len(values) > 1]
        if len(varied) < 2:
            return frozenset()
        made = [
            self._compose({**self._first, group: value})
            for group in varied
            for value in self.groups[group]
        ]
        return frozenset(group for group in varied if self._is_independent(group, made))

    def _is_independent(self, group: str, made: Sequence[Composed]) -> bool:
        if not re.fullmatch(r"\w+", group):
            return False
        own = {f"{group}/{value}" for value in self.groups[group]}
        always = frozenset.intersection(*(one.parts for one in made))
        parts = frozenset.union(*(one.parts for one in made))
        own_parts = {(path, package) for path, package in parts if path in own}
        others = parts - always - own_parts
        return (
            {path for path, _ in own_parts} == own
            and all(package == group for _, package in own_parts)
            and all(self._defaults(path) == "" for path in own)
            and not any(self._asks(path, group) for path, _ in parts)
            and not any(package.partition(".")[0] in ("", group) for _, package in others)
        )

    def _asks(self, path: str, group: str) -> bool:
        """Tell whether the defaults of a config hang on the choice of a group, or may do so."""
        defaults = "" if path.startswith("hydra/") else self._defaults(path)
        return defaults is None or ("${" in defaults and group in defaults)

    def _defaults(self, path: str) -> str | None:
        """Return a config's defaults as they are written; None where its file is not known."""
        for folder in self.folders:
            file = folder / f"{path}.yaml"
            if file.is_file():
                found: Any = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
                entries = found.get("defaults") if isinstance(found, dict) else None
                return " ".join(str(entry) for entry in entries or () if entry != "_self_")
        return None

    def _compose(self, choices: Choices) -> Composed:
        overrides = tuple(f"{group}={value}" for group, value in choices.items())
        key = tuple(sorted(overrides))
        if key not in self._made:
            self._made[key] = self._load([*self.fixed, *overrides])
        return self._made[key]

    def _load(self, overrides: list[str]) -> Composed:
        config = self.loader.load_configuration("config", overrides, RunMode.RUN, from_shell=False)
        with open_dict(config):
            del config["hydra"]
        made_of = self.loader.compute_defaults_list("config", overrides, RunMode.RUN).defaults
        parts = [part for part in made_of if part.config_path is not None]
        return Composed(
            config=config,
            parts=frozenset((str(part.config_path), part.package or "") for part in parts),
        )


def apply(override: Override, config: DictConfig) -> None:
    """Apply an override of a plain value, as Hydra does: set, add (+, ++) or delete (~)."""
    key, value = override.key_or_group, override.value()
    if override.is_delete():
        _delete(config, key, override)
    elif override.is_force_add():
        OmegaConf.update(config, key, value, merge=True, force_add=True)
    elif override.is_add():
        there = OmegaConf.select(config, key, throw_on_missing=False) is not None
        if there and not isinstance(value, dict | list):
            raise ConfigCompositionException(f"Could not append to config. {key!r} is there.")
        OmegaConf.update(config, key, value, merge=True, force_add=True)
    else:
        try:
            OmegaConf.update(config, key, value, merge=True)
        except (ConfigAttributeError, ConfigKeyError) as error:
            raise ConfigCompositionException(f"Could not override '{key}'.") from error


def _delete(config: DictConfig, key: str, override: Override) -> None:
    found = OmegaConf.select(config, key, throw_on_missing=False)
    if found is None or (override.value() is not None and override.value() != found):
        raise ConfigCompositionException(f"Could not delete from config. {key!r} is not there so")
    parent, _, name = key.rpartition(".")
    node = OmegaConf.select(config, parent) if parent else config
    with open_dict(config):
        del node[name]


def _top_key(override: Override) -> str:
    return re.split(r"[.\[]", override.key_or_group, maxsplit=1)[0]
