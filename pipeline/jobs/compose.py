"""Compose the configs of many jobs as Hydra does, without composing each.

Hydra takes 0.1 s for a config. Overrides of plain values come last and can be applied to a copy;
a group that nothing else depends on (most: dataset, method) need not be composed in every
combination with the others. What cannot be shown to be independent is composed as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hydra import version
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository, IConfigRepository
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.default_element import ResultDefault
from hydra.core.override_parser.types import Override
from hydra.core.utils import setup_globals
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict

from pipeline.jobs.errors import ConfigError
from pipeline.jobs.task import plain
from pipeline.paths import conf_dir

VERSION = "1.3"  # as in pipeline/run.py
RESOLVERS = ("now", "hydra", "python_version")
Choices = Mapping[str, str]


@contextmanager
def hydra_globals() -> Iterator[None]:
    """Have Hydra's version and resolvers set, and leave them as they were found."""
    base = version.VersionBase.instance()
    before = base.version_base
    missing = [name for name in RESOLVERS if not OmegaConf.has_resolver(name)]
    version.setbase(VERSION)
    if missing:
        setup_globals()
    try:
        yield
    finally:
        base.version_base = before
        for name in missing:
            OmegaConf.clear_resolver(name)


class Loader(ConfigLoaderImpl):
    """Hydra's own loader; it remembers of what it composed the last config."""

    parts: list[ResultDefault]
    sources: CachingConfigRepository

    def __init__(self, config_dirs: Sequence[Path] = ()) -> None:
        path = create_config_search_path(str(conf_dir()))
        for folder in config_dirs:
            if not folder.is_dir():
                raise ConfigError(f"--config-dir {folder}: there is no such folder")
            place = f"file://{folder.resolve()}"
            path.prepend("command-line", place, anchor=SearchPathQuery(provider="schema"))
        super().__init__(path)

    def _compose_config_from_defaults_list(
        self, defaults: list[ResultDefault], repo: IConfigRepository
    ) -> DictConfig:
        assert isinstance(repo, CachingConfigRepository)
        self.parts, self.sources = defaults, repo
        return super()._compose_config_from_defaults_list(defaults, repo)


@dataclass(frozen=True, eq=False)
class Composed:
    """A composed config and what it was made of.

    Attributes:
        config: without the node ``hydra``.
        parts: path and package of every file.
        nested: paths of the files that have defaults of their own.
        asks: the defaults that hang on the choice of a group, such as ``${link}``.
    """

    config: DictConfig
    parts: frozenset[tuple[str, str]]
    nested: frozenset[str]
    asks: frozenset[str]
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
    """

    loader: Loader
    fixed: Sequence[str]
    groups: Mapping[str, Sequence[str]]
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
        ConfigLoaderImpl._apply_overrides_to_config(list(overrides), part)
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
        if not re.fullmatch(r"\w+", group) or any(group in ask for one in made for ask in one.asks):
            return False
        own = {f"{group}/{value}" for value in self.groups[group]}
        always = frozenset.intersection(*(one.parts for one in made))
        parts = frozenset.union(*(one.parts for one in made))
        own_parts = {(path, package) for path, package in parts if path in own}
        others = parts - always - own_parts
        return (
            {path for path, _ in own_parts} == own
            and all(package == group for _, package in own_parts)
            and not any(path in one.nested for one in made for path in own)
            and not any(package.partition(".")[0] in ("", group) for _, package in others)
        )

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
        defaults = dict(_defaults(self.loader.sources))
        parts = [part for part in self.loader.parts if part.config_path is not None]
        return Composed(
            config=config,
            parts=frozenset((str(part.config_path), part.package or "") for part in parts),
            nested=frozenset(path for path, inside in defaults.items() if set(inside) - {"_self_"}),
            asks=frozenset(one for inside in defaults.values() for one in inside if "${" in one),
        )


def _defaults(sources: CachingConfigRepository) -> Iterable[tuple[str, list[str]]]:
    """Yield for each loaded file its defaults, as they are written."""
    for key, loaded in sources.cache.items():
        if loaded is not None:
            entries = loaded.defaults_list or []
            texts = [
                str(getattr(entry, "value", None) or getattr(entry, "path", ""))
                for entry in entries
            ]
            yield key.partition("=")[2], texts


def _top_key(override: Override) -> str:
    return re.split(r"[.\[]", override.key_or_group, maxsplit=1)[0]
