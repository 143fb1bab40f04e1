"""The cells of a sweep, as configs: what ``python -m pipeline.run -m <overrides>`` would run."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import initialize_config_dir, version
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from pipeline.cells.cell import Cell
from pipeline.cells.errors import ConfigError, MethodError
from pipeline.cells.read import check_machine, check_sources, make_cell
from pipeline.files import conf_dir
from pipeline.sweeps.compose import Composer, top_key
from pipeline.tracking.sweep import content_of

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
    lines, fixed = list(dict.fromkeys(itertools.chain(*jobs))), list(main.hydra.overrides.hydra)
    parsed = dict(zip(lines, OverridesParser.create().parse_overrides(lines), strict=True))
    keys = {one.key_or_group for one in parsed.values() if "." not in one.key_or_group}
    groups = {key for key in keys if loader.get_group_options(key, None, "config", fixed)}
    divided = [_divide([parsed[line] for line in job], groups) for job in jobs]
    choices = content_of(choices for choices, _ in divided)
    composer = Composer(loader, fixed, choices, config_folders(main.hydra))
    own = own_folders(main.hydra)
    return [
        Planned(job, composer.values(*parts), own) for job, parts in zip(jobs, divided, strict=True)
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


def _divide(
    job: Sequence[Override], groups: Container[str]
) -> tuple[dict[str, str], list[Override]]:
    """Return what Hydra itself has to apply, choices in config groups above all, and the rest.

    The rest sets plain values of keys that are there.
    """
    reshaped = {top_key(one) for one in job if one.type is not OverrideType.CHANGE}
    plain, choices = [], {}
    for one in job:
        is_choice = one.key_or_group in groups and not isinstance(one.value(), dict)
        if is_choice or top_key(one) in reshaped:
            choices[one.get_key_element()] = one.get_value_element_as_str()
        else:
            plain.append(one)
    return choices, plain
