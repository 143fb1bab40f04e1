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
    """A composed config, without the node ``hydra``."""

    config: DictConfig
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
        choices: what Hydra itself has to apply, by key, and the values that will be asked for:
            choices in config groups, and what adds or removes a key.
        folders: of configs, in the order in which Hydra looks into them.
    """

    loader: ConfigLoader
    fixed: Sequence[str]
    choices: Mapping[str, Sequence[str]]
    folders: Sequence[Path]
    _made: dict[tuple[str, ...], Composed] = field(default_factory=dict)

    def values(self, choices: Choices, overrides: Sequence[Override]) -> dict[str, Any]:
        """Return the plain config of some choices with overrides of plain values."""
        sources = self._sources(choices)
        fixed = all(source.fixed for source in set(sources.values()))
        fixed = fixed and not any("${" in str(override.input_line) for override in overrides)
        touched = {top_key(override) for override in overrides} if fixed else set(sources)
        rest = {key: source.plain(key) for key, source in sources.items() if key not in touched}
        nodes = {key: source.node(key) for key, source in sources.items() if key in touched}
        part = OmegaConf.create(nodes)
        OmegaConf.set_struct(part, True)
        for override in overrides:
            try:
                OmegaConf.update(part, override.key_or_group, override.value(), merge=True)
            except (ConfigAttributeError, ConfigKeyError) as error:
                key = override.key_or_group
                raise ConfigCompositionException(f"Could not override '{key}'.") from error
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
        return {key: values[0] for key, values in self.choices.items()}

    @cached_property
    def _independent(self) -> frozenset[str]:
        """Return the groups whose choice changes their own key, whatever the others are."""
        varied = [key for key, values in self.choices.items() if len(values) > 1]
        if len(varied) < 2 or not all(map(str.isidentifier, varied)):
            return frozenset()
        made = [
            self._parts(_lines({**self._first, group: value}))
            for group in varied
            for value in self.choices[group]
        ]
        parts, always = frozenset.union(*made), frozenset.intersection(*made)
        defaults = {path: self._defaults(path) for path, _ in parts}
        asked = " ".join(text for text in defaults.values() if "${" in text)

        def is_independent(group: str) -> bool:
            own = {(f"{group}/{value}", group) for value in self.choices[group]}
            others = {package.partition(".")[0] for _, package in parts - always - own}
            alone = own <= parts and not any(defaults[path] for path, _ in own)
            return alone and group not in asked and not {"", group} & others

        return frozenset(filter(is_independent, varied))

    def _defaults(self, path: str) -> str:
        """Return a config's defaults as they are written, where its file is known."""
        for file in [folder / f"{path}.yaml" for folder in self.folders]:
            if file.is_file():
                found: Any = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
                entries = found.get("defaults") if isinstance(found, dict) else None
                return " ".join(str(entry) for entry in entries or () if entry != "_self_")
        return "" if path.startswith("hydra/") else f"${{{self.choices}}}"  # may ask for anything

    def _compose(self, choices: Choices) -> Composed:
        overrides = _lines(choices)
        key = tuple(sorted(overrides))
        if key not in self._made:
            self._made[key] = self._load([*self.fixed, *overrides])
        return self._made[key]

    def _load(self, overrides: list[str]) -> Composed:
        config = self.loader.load_configuration("config", overrides, RunMode.RUN, from_shell=False)
        with open_dict(config):
            del config["hydra"]
        return Composed(config)

    def _parts(self, overrides: list[str]) -> frozenset[tuple[str, str]]:
        """Return path and package of every file that a config is made of."""
        lines = [*self.fixed, *overrides]
        made_of = self.loader.compute_defaults_list("config", lines, RunMode.RUN).defaults
        parts = [part for part in made_of if part.config_path is not None]
        return frozenset((str(part.config_path), part.package or "") for part in parts)


def _lines(choices: Choices) -> list[str]:
    return [f"{key}={value}" for key, value in choices.items()]


def top_key(override: Override) -> str:
    """Return the top-level key that an override changes."""
    return re.split(r"[.\[]", override.key_or_group, maxsplit=1)[0]
