"""Folder names under code that is not on disk."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pipeline.cells.cell import Cell
from pipeline.cells.compute import compute
from pipeline.cells.definitions import CODE, Code, Module
from pipeline.cells.identity import folder_of, identity_of
from pipeline.cells.problem import prepare
from pipeline.cells.read import make_cell
from pipeline.data.sources import Settings
from tests.cells.configs import SMALL, values

ROOT = Path(__file__).parents[2]


@lru_cache(maxsize=64)
def cell_of(method: str) -> Cell:
    return make_cell(values("dataset=blood", f"method={method}", *SMALL))


def folder_name(method: str, code: Code = CODE) -> str:
    """Return the name of the run folder of a cell, had its code been this."""
    cell = cell_of(method)
    engine = code.follow(prepare, compute)
    identity = {
        **identity_of(cell, Settings.of(offline=True)),
        "engine": engine.digest,
        "method": code.follow(type(cell.method), after=engine).digest,
    }
    return folder_of(cell, identity, Path("outputs")).path.name


def with_source(module: str, source: str) -> Code:
    """Return the code with another source of one module."""
    known = CODE.module(module)
    assert known is not None
    return Code({**CODE.modules, module: Module(module, source, known.package)})


def file_of(module: str) -> Path:
    file = ROOT.joinpath(*module.split("."))
    return file / "__init__.py" if file.is_dir() else file.with_suffix(".py")


def module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def root(module: str, name: str) -> type:
    """Return something to follow from, of that module and name."""
    return type(name, (), {"__module__": module})
