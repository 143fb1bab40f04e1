"""The cells of a sweep, as configs: what ``python -m pipeline.run -m <overrides>`` would run."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hydra import initialize_config_dir, version
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from pipeline.cells.cell import Cell
from pipeline.cells.errors import ConfigError, MethodError
from pipeline.cells.read import check_machine, check_sources, make_cell
from pipeline.files import conf_dir
from pipeline.sweeps.compose import Composer

VERSION = "1.3"  # as in pipeline/run.py
RESOLVERS = ("now", "hydra", "python_version")
SWEEPER = "hydra_plugins.onesided.sweeper.CellSweeper"
SEARCH_PATH = "hydra.searchpath"


@dataclass(frozen=True)
class Planned:
    """The config of one cell.

    Attributes:
        overrides: as Hydra writes them, one value each.
        values: the config as plain values; parts are shared between cells: do not change them.
        config_dirs: folders of configs outside the project.
    """

    overrides: list[str]
    values: dict[str, Any]
    config_dirs: list[Path]

    def cell(self) -> Cell:
        """Return the cell itself; raise ConfigError where it makes no sense."""
        return make_cell(self.values, self.config_dirs)


def plan(overrides: Sequence[str], config_dirs: Sequence[Path] = ()) -> list[Planned]:
    """Return the cells of a sweep, in Hydra's order.

    Args:
        overrides: as on the command line.
        config_dirs: folders of configs outside the project, as given by ``--config-dir``.
    """
    with config_loader() as loader:
        lines = _with_folders(overrides, config_dirs)
        main = loader.load_configuration("config", lines, RunMode.MULTIRUN)
        return plan_config(main, loader)


def plan_config(main: DictConfig, loader: ConfigLoader) -> list[Planned]:
    """Return the cells of a sweep whose main config Hydra has composed.

    Args:
        main: of the whole sweep, in Hydra's multirun mode.
        loader: that composed it.
    """
    jobs = _expand(main, loader)
    folders = config_folders(main.hydra)
    chosen = _Divider(loader, list(main.hydra.overrides.hydra)).divide(jobs)
    composer = Composer(
        loader, list(main.hydra.overrides.hydra), _values_of_groups(chosen), folders
    )
    own = own_folders(main.hydra)
    return [
        Planned(job, composer.values(groups, others), own)
        for job, (groups, others) in zip(jobs, chosen, strict=True)
    ]


def read_cells(jobs: Sequence[Planned]) -> tuple[dict[int, Cell], dict[int, MethodError]]:
    """Return the cells by number; and, where methods are swept, those of methods that are broken.

    Raises:
        ConfigError: where a cell makes no sense, or none can be run.
    """
    cells, broken = {}, {}
    for number, job in enumerate(jobs):
        check_machine(job.values)
        check_sources(job.values["data"])
        try:
            cells[number] = job.cell()
        except MethodError as error:
            broken[number] = error
    if not cells:
        raise broken[0]
    return cells, broken


@contextmanager
def config_loader() -> Iterator[ConfigLoader]:
    """Yield Hydra's loader of the project's configs, and leave Hydra as it was found."""
    base = version.VersionBase.instance()
    known, before = GlobalHydra.instance(), base.version_base
    hydra = known.hydra
    missing = [name for name in RESOLVERS if not OmegaConf.has_resolver(name)]
    known.clear()
    try:
        with initialize_config_dir(str(conf_dir()), version_base=VERSION):
            yield GlobalHydra.instance().config_loader()
    finally:
        GlobalHydra.instance().hydra = hydra
        base.version_base = before
        for name in missing:
            OmegaConf.clear_resolver(name)


def config_folders(hydra: Any) -> list[Path]:
    """Return the folders of configs that a config was composed from, but for Hydra's own."""
    sources = [source for source in hydra.runtime.config_sources if source.provider != "hydra"]
    return [folder for source in sources for folder in _folders(source, hydra.runtime.cwd)]


def own_folders(hydra: Any) -> list[Path]:
    """Return those of :func:`config_folders` that are not the project's."""
    folders = config_folders(hydra)
    return [folder for folder in folders if folder.resolve() != conf_dir().resolve()]


def _folders(source: Any, cwd: str) -> Iterable[Path]:
    """Return the folders of ``file://folder`` or ``pkg://package.folder``; none where none is."""
    if source.schema == "file":
        return [Path(cwd, source.path)]
    if source.schema != "pkg":
        return []
    try:
        spec = importlib.util.find_spec(source.path)
    except ModuleNotFoundError:  # Hydra has warned of it
        return []
    return map(Path, (spec and spec.submodule_search_locations) or ())


def _with_folders(overrides: Sequence[str], config_dirs: Sequence[Path]) -> list[str]:
    """Return overrides that have Hydra look into some more folders."""
    for folder in config_dirs:
        if not folder.is_dir():
            raise ConfigError(f"--config-dir {folder}: there is no such folder")
    if not config_dirs:
        return list(overrides)
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    given = [one for one in parsed if one.get_key_element() == SEARCH_PATH]
    places = [f"file://{folder.resolve()}" for folder in config_dirs]
    places += [str(place) for one in given for place in _listed(one.value())]
    quoted = ",".join("'{}'".format(place.replace("'", r"\'")) for place in places)
    others = [one.input_line for one in parsed if one not in given]
    return [*map(str, others), f"{SEARCH_PATH}=[{quoted}]"]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _expand(main: DictConfig, loader: ConfigLoader) -> list[list[str]]:
    """Return the overrides of each cell; the command line's come after the experiment's."""
    sweeper: Any = OmegaConf.to_container(main.hydra.sweeper, resolve=True)
    if sweeper.get("_target_") != SWEEPER:
        raise ConfigError("hydra/sweeper: only the cells of the project's own are known beforehand")
    params = [f"{key}={value}" for key, value in (sweeper.get("params") or {}).items()]
    parser = OverridesParser.create(loader)  # with the loader: for glob(…)
    parsed = parser.parse_overrides([*params, *main.hydra.overrides.task])
    values = {override.get_key_element(): _values(override) for override in parsed}
    return [list(job) for job in itertools.product(*values.values())]


def _values(override: Override) -> list[str]:
    """Return an override as one line for each of its values."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [f"{key}={override.get_value_element_as_str()}"]
    if not override.is_discrete_sweep():
        raise HydraException(f"{override.input_line}: only lists, choices, ranges and globs sweep")
    return [f"{key}={value}" for value in override.sweep_string_iterator()]


@dataclass(frozen=True)
class _Divider:
    """Divides overrides as Hydra does: choices in config groups, and plain values."""

    loader: ConfigLoader
    fixed: list[str]

    def divide(self, jobs: Sequence[Sequence[str]]) -> list[tuple[dict[str, str], list[Override]]]:
        parsed = {line: _parse(line) for line in dict.fromkeys(itertools.chain(*jobs))}
        choices = {line for line, override in parsed.items() if self._is_choice(override)}
        return [
            (
                {
                    parsed[line].get_key_element(): parsed[line].get_value_element_as_str()
                    for line in job
                    if line in choices
                },
                [parsed[line] for line in job if line not in choices],
            )
            for job in jobs
        ]

    def _is_choice(self, override: Override) -> bool:
        group = override.key_or_group
        return "." not in group and not isinstance(override.value(), dict) and self._exists(group)

    def _exists(self, group: str) -> bool:
        return bool(_options(self.loader, group, tuple(self.fixed)))


@lru_cache(maxsize=256)
def _options(loader: ConfigLoader, group: str, overrides: tuple[str, ...]) -> list[str]:
    return loader.get_group_options(group, None, config_name="config", overrides=list(overrides))


@lru_cache(maxsize=4096)
def _parse(line: str) -> Override:
    """Return a parsed override; the cells of a sweep share most of theirs."""
    (override,) = OverridesParser.create().parse_overrides([line])
    return override


def _values_of_groups(
    chosen: Iterable[tuple[dict[str, str], list[Override]]],
) -> dict[str, list[str]]:
    """Return the values asked for in each group, in their order."""
    found: dict[str, dict[str, None]] = {}
    for groups, _ in chosen:
        for group, value in groups.items():
            found.setdefault(group, {})[value] = None
    return {group: list(values) for group, values in found.items()}
