"""From a config of the group ``method`` to the method, wherever its file lies.

A method of the project is known by its name. One of your own is a file that lies beside its
config: with ``--config-dir mine``, ``mine/method/fading.yaml`` goes with ``mine/method/fading.py``.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from pipeline.cells.definitions import CODE
from pipeline.cells.errors import ConfigError, MethodError
from pipeline.core.methods import Method, get_method, method_names
from pipeline.core.methods.base import REGISTRY
from pipeline.core.near_misses import closest

OWN_PREFIX = "onesided_method_"


def find_method(
    config: Mapping[str, Any], config_dirs: Sequence[Path] = ()
) -> tuple[Method, Path | None]:
    """Return the method of a config, and its file where it is not the project's own."""
    values = dict(config)
    name = str(values.pop("name"))
    files = [(folder / "method" / f"{name}.py").resolve() for folder in config_dirs]
    file = next(filter(Path.is_file, files), None)
    if file is not None:
        _import(name, file)
    if name not in method_names():
        places = ", ".join(str(folder / "method" / f"{name}.py") for folder in config_dirs)
        missing = f": there is no file {places}" if places else ""
        raise MethodError(f"method {name!r} is unknown{missing}{closest(name, method_names())}")
    return _with_parameters(type(get_method(name)), values), file


def _import(name: str, file: Path) -> None:
    """Import a method's file, which registers it; again when the file has changed."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    module_name = f"{OWN_PREFIX}{name}_{digest}"
    if REGISTRY.get(name) is not None and REGISTRY[name].__module__ == module_name:
        return
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise MethodError(f"{file}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look their module up by its name
    if name in REGISTRY and REGISTRY[name].__module__.startswith(OWN_PREFIX):
        del REGISTRY[name]
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[module_name]
        kind = "" if type(error) is ValueError else f"{type(error).__name__}: "  # as register says
        raise MethodError(f"{file}: {kind}{error}") from error
    if name not in REGISTRY:
        raise MethodError(f'{file}: registers no method of the name {name!r} (name = "{name}")')
    CODE.module(module_name)  # as it was imported, whatever becomes of the file


def _with_parameters(kind: type[Method], values: Mapping[str, Any]) -> Method:
    known = [field.name for field in fields(kind)]
    for key in values:
        if key not in known:
            hint = closest(key, known) if known else " (it has none)"
            raise ConfigError(f"method.{key}: {kind.name} has no such parameter{hint}")
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"method: {error}") from error
