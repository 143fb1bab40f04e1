"""The cache cannot go stale: a digest follows all that a kernel's machine code depends on."""

import importlib.util
import math
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from pipeline.core.kernels import jit as jit_
from pipeline.core.kernels.jit import code_digest, compile_bonus, compile_link, exact, inlined, jit

ROOT = Path(jit_.__file__).resolve().parents[3]
SOURCE = """
import math
import numba
import numpy as np
from pipeline.core.kernels.jit import jit

SCALE = 2.0
WHOLE = np.int64(3)
PAIR = (5.0, 6.0)
UNUSED = 7.0

@jit
def deep(x):
    return x + 1.0

@jit
def middle(x):
    return deep(x) * 8.0

@numba.njit
def plain(x):
    return x - 9.0

@jit
def kernel(x):
    return middle(x) * SCALE + WHOLE + PAIR[0] + plain(x)
"""


def load(path: Path, source: str) -> ModuleType:
    """Import a source from a file of its own."""
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def digest_of(tmp_path: Path, name: str, source: str) -> str:
    return code_digest(load(tmp_path / f"{name}.py", source).kernel)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("middle(x) * SCALE", "middle(x) / SCALE", id="own code"),
        pytest.param("deep(x) * 8.0", "deep(x) / 8.0", id="code of a callee"),
        pytest.param("deep(x) * 8.0", "deep(x) * 8.5", id="constant of a callee"),
        pytest.param("x + 1.0", "x + 1.5", id="callee of a callee"),
        pytest.param("x - 9.0", "x - 9.5", id="callee compiled by numba alone"),
        pytest.param("SCALE = 2.0", "SCALE = 2.5", id="global number"),
        pytest.param("np.int64(3)", "np.int64(4)", id="global numpy number"),
        pytest.param("(5.0, 6.0)", "(5.5, 6.0)", id="global tuple"),
    ],
)
def test_digest_changes_with_what_the_kernel_uses(tmp_path: Path, old: str, new: str) -> None:
    assert old in SOURCE
    before = digest_of(tmp_path, "before", SOURCE)
    assert digest_of(tmp_path, "after", SOURCE.replace(old, new)) != before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("UNUSED = 7.0", "UNUSED = 7.5", id="another constant"),
        pytest.param("@jit", "\n# a comment\n\n@jit", id="comments and line numbers"),
        pytest.param("@jit\ndef middle", "def other(x):\n    return x\n\n@jit\ndef middle"),
    ],
)
def test_digest_is_unmoved_by_anything_else(tmp_path: Path, old: str, new: str) -> None:
    assert old in SOURCE
    before = digest_of(tmp_path, "before", SOURCE)
    assert digest_of(tmp_path, "after", SOURCE.replace(old, new)) == before


def test_digest_follows_a_kernel_called_through_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = "import lower\nfrom pipeline.core.kernels.jit import jit\n\n@jit\ndef kernel(x):\n"
    caller += "    return lower.deep(x)\n"
    digests = []
    for k, source in enumerate((SOURCE, SOURCE, SOURCE.replace("x + 1.0", "x + 1.5"))):
        monkeypatch.setitem(sys.modules, "lower", load(tmp_path / f"lower{k}.py", source))
        digests.append(digest_of(tmp_path, "caller", caller))
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("compiler", "old", "new"),
    [
        ("jit", '"error_model": "numpy"', '"error_model": "python"'),
        ("inlined", "forceinline=True", "forceinline=False"),
        ("exact", 'fastmath={"contract"}', "fastmath=False"),
    ],
)
def test_digest_changes_with_the_flags(tmp_path: Path, compiler: str, old: str, new: str) -> None:
    text = Path(jit_.__file__).read_text(encoding="utf-8")
    assert old in text
    modules = (
        jit_,
        load(tmp_path / "same.py", text),
        load(tmp_path / "other.py", text.replace(old, new, 1)),
    )
    ours, same, other = (getattr(m, compiler)(make_double()).onesided_digest for m in modules)
    assert ours == same != other


def make_double() -> Callable[[float], float]:
    def double(x: float) -> float:
        return 2.0 * x

    return double


def scaled_width(scale: float) -> Callable[..., float]:
    def bonus(_t: float, _alpha: float, _score: float, width: float, _draws: Any) -> float:
        return scale * width

    return bonus


def test_digest_follows_the_closure() -> None:
    assert code_digest(scaled_width(2.0)) == code_digest(scaled_width(2.0))
    assert code_digest(scaled_width(2.0)) != code_digest(scaled_width(3.0))


def test_undefined_callee_is_refused() -> None:
    def kernel(x: float) -> float:
        return written_later(x)  # noqa: F821

    with pytest.raises(NameError, match="'written_later' before it is defined"):
        jit(kernel)


def test_every_compiler_computes_and_tells_its_flags() -> None:
    compiled = [compiler(make_double()) for compiler in (jit, inlined, exact)]
    assert [kernel(3.0) for kernel in compiled] == [6.0] * 3
    assert len({kernel.onesided_digest for kernel in compiled}) == 3


def test_exact_kernel_keeps_the_order_of_sums() -> None:
    @exact
    def lost(big, small):
        return ((big + small) - big) - small

    assert lost(1e16, 1.0) == -1.0


@numba.njit
def call(bonus, width, draws):
    return bonus(1.0, 0.5, 0.25, width, draws)


def test_bonus_is_compiled_once_for_the_same_code_and_closure() -> None:
    two, again, three = (compile_bonus(scaled_width(scale)) for scale in (2.0, 2.0, 3.0))
    assert two is again
    assert two is not three
    assert call(two, 10.0, np.empty(0)) == 20.0
    assert call(three, 10.0, np.empty(0)) == 30.0


def test_links_of_the_same_name_keep_apart() -> None:
    def make(scale: float) -> Callable[[float], float]:
        def mean(z: float) -> float:
            return scale * z

        return mean

    @numba.njit
    def first(link, z, out):
        link(z, out, 1)

    out = np.empty(1)
    for scale in (2.0, 3.0, 2.0):
        first(compile_link(make(scale)), np.ones(1), out)
        assert out[0] == scale


def test_function_typed_at_a_prompt_compiles() -> None:
    scope: dict[str, Any] = {"__name__": "__main__", "math": math}
    text = "def bonus(t, alpha, score, width, draws):\n    return alpha * math.sqrt(width)\n"
    exec(compile(text, "<stdin>", "exec"), scope)
    assert call(compile_bonus(scope["bonus"]), 16.0, np.empty(0)) == 2.0


def test_infinite_bonus_stays_infinite() -> None:
    def bonus(_t: float, alpha: float, _score: float, _width: float, draws: Any) -> float:
        return math.inf if draws[0] < alpha else -math.inf

    pointer = compile_bonus(bonus)
    assert call(pointer, 1.0, np.array([0.4])) == math.inf
    assert call(pointer, 1.0, np.array([0.6])) == -math.inf


def run(folder: Path, code: str, *arguments: str, **variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment |= variables
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_changed_callee_in_another_file_is_compiled_again(tmp_path: Path) -> None:
    """The trap: numba alone would go on using b's old machine code, for b.py did not change."""
    package = tmp_path / "kernels"
    package.mkdir()
    (package / "__init__.py").touch()
    lower, upper = package / "a.py", package / "b.py"
    head = "from pipeline.core.kernels.jit import entry, jit\n"
    body = "\n@jit\ndef f(x):\n    return x + 1.0\n"
    lower.write_text(head + body)
    upper.write_text(
        f"{head}from kernels.a import f\n\n@entry\ndef g(x):\n    return 10.0 * f(x)\n"
    )
    stamp = upper.stat().st_mtime_ns
    code = textwrap.dedent("""
        from kernels.b import g
        value = g(1.0)
        print(value, sum(g.stats.cache_hits.values()))
    """)
    assert run(tmp_path, code) == "20.0 0"
    assert run(tmp_path, code) == "20.0 1"  # the cache is used, or the trap would not be there
    lower.write_text(head + body.replace("+ 1.0", "+ 20.0"))
    assert run(tmp_path, code) == "210.0 0"
    assert upper.stat().st_mtime_ns == stamp


LINKS_OF_A_SWEEP = """
    from pipeline.core.kernels.jit import compile_link
    from pipeline.core.links import LINKS
    found = [compile_link(f) for link in LINKS.values() for f in (link.mean, link.slope)]
    print(sum(link.cache_hits for link in found))
"""


def test_links_are_compiled_once(tmp_path: Path) -> None:
    """Closures over a compiled function would add files to the cache in every process."""
    cache = tmp_path / "cache"
    code = textwrap.dedent(LINKS_OF_A_SWEEP)
    assert run(tmp_path, code, NUMBA_CACHE_DIR=str(cache)) == "0"
    files = sorted(cache.rglob("*.nb?"))
    assert len(files) == 12
    assert run(tmp_path, code, NUMBA_CACHE_DIR=str(cache)) == "6"
    assert sorted(cache.rglob("*.nb?")) == files


@pytest.mark.parametrize("damaged", ["*.nbi", "*.nbc"])
def test_a_damaged_cache_is_made_anew(damaged: str, tmp_path: Path) -> None:
    cache, module = tmp_path / "cache", tmp_path / "triple.py"
    head = "from pipeline.core.kernels.jit import entry\n"
    module.write_text(f"{head}\n@entry\ndef triple(x):\n    return 3.0 * x\n")
    code = "import triple\nprint(triple.triple(2.0), sum(triple.triple.stats.cache_hits.values()))"
    assert run(tmp_path, code, NUMBA_CACHE_DIR=str(cache)) == "6.0 0"
    for file in cache.rglob(damaged):
        file.write_bytes(b"a class of a module that has moved")
    assert run(tmp_path, code, NUMBA_CACHE_DIR=str(cache)) == "6.0 0"
    assert run(tmp_path, code, NUMBA_CACHE_DIR=str(cache)) == "6.0 1"


DECIDED = """
    import sys
    from pipeline.core.kernels import linking
    linking.KNOWN_VERSIONS = (*linking.KNOWN_VERSIONS,) if sys.argv[1] == "linked" else ()
    from pipeline.core.kernels.jit import LINKED
    from pipeline.core.engine import grid
    from pipeline.core.methods.checks.streams import make_stream, run_engine
    stream = make_stream("linear")
    found = run_engine(stream, grid(["ours", "noise"], [0.1, 1.0], [stream.cutoff], 1))
    print(LINKED, found.decisions.tobytes().hex())
"""


@pytest.mark.slow
def test_another_version_of_numba_decides_alike(tmp_path: Path) -> None:
    """What is known of one version is not done to another: kernels then take longer to compile."""
    code = textwrap.dedent(DECIDED)
    linked, whole = (
        run(tmp_path, code, kind, NUMBA_CACHE_DIR=str(tmp_path / kind)).split()
        for kind in ("linked", "whole")
    )
    assert (linked[0], whole[0]) == ("True", "False")
    assert linked[1] == whole[1]
