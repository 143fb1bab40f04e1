"""Whatever changes code on the way from a cell to its figures gives the results another name."""

from __future__ import annotations

from collections import defaultdict

import pytest

from pipeline.cells.compute import compute
from pipeline.cells.definitions import CODE
from pipeline.cells.problem import prepare
from pipeline.core.methods import method_names
from tests.identity.mutants import Mutant, mutants
from tests.identity.names import cell_of, file_of, folder_name, module_of, with_source
from tests.identity.traced import Met, traced

SAMPLE = 150  # mutants that are tried at every test; all of them take minutes
Places = dict[tuple[str, str], set[str]]  # (method, module) → definitions


@pytest.fixture(scope="module")
def executed() -> Met:
    return traced()


def method_of(overrides: str) -> str:
    return overrides.partition("method=")[2].partition(" ")[0]


def places_executed(met: Met) -> Places:
    """Return what ran, as watched: each function under the first cell that ran it."""
    first = {
        (module_of(file), name): method_of(overrides)
        for overrides, functions in reversed(met.items())
        for file, name in functions
        if name != "<module>"
    }
    found: Places = defaultdict(set)
    for (module, name), method in first.items():
        found[method, module].add(name)
    return found


def places_followed() -> Places:
    """Return what the digest says it follows: classes, functions and constants."""
    found: Places = defaultdict(set)
    engine = CODE.follow(prepare, compute)
    walks = {"ours": engine.met}
    for name in method_names():
        walk = CODE.follow(type(cell_of(name).method), after=engine)
        walks[name] = [*walks.get(name, []), *walk.met]
    for method, met in walks.items():
        for definition in met:
            if not definition.words:
                found[method, definition.module].add(definition.name)
    return found


def all_mutants(places: Places) -> list[tuple[str, Mutant]]:
    return [
        (method, mutant)
        for (method, module), names in places.items()
        for mutant in mutants(module, file_of(module).read_text(encoding="utf-8"), sorted(names))
    ]


def assert_named_anew(cases: list[tuple[str, Mutant]]) -> None:
    before = {method: folder_name(method) for method in {method for method, _ in cases}}
    missed = [
        str(mutant)
        for method, mutant in cases
        if folder_name(method, with_source(mutant.module, mutant.source())) == before[method]
    ]
    assert missed == []


def sample(cases: list[tuple[str, Mutant]]) -> list[tuple[str, Mutant]]:
    """Return some of the cases, from everywhere, the same ones each time."""
    return cases[:: max(1, len(cases) // SAMPLE)]


def test_every_function_that_runs_is_followed(executed: Met) -> None:
    engine = CODE.follow(prepare, compute)
    for overrides, functions in executed.items():
        method = type(cell_of(method_of(overrides)).method)
        met = [*engine.met, *CODE.follow(method, after=engine).met]
        followed = {(one.module, one.name) for one in met if not one.words}
        ran = {(module_of(file), name.partition(".")[0]) for file, name in functions}
        assert {one for one in ran if one[1] != "<module>"} - followed == set()
        assert len(ran) > 50  # the watching has worked


def test_a_change_in_what_runs_gives_another_name(executed: Met) -> None:
    assert_named_anew(sample(all_mutants(places_executed(executed))))


def test_a_change_in_what_is_followed_gives_another_name() -> None:
    assert_named_anew(sample(all_mutants(places_followed())))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_change_gives_another_name(executed: Met) -> None:
    cases = [*all_mutants(places_followed()), *all_mutants(places_executed(executed))]
    assert len(cases) > 10_000
    assert_named_anew(cases)
