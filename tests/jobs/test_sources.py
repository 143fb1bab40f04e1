from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.jobs.sources import METHODS, code_of, digest_of, file_digest, method_digests

SOURCE = '''"""About the module."""

def bonus(t):  # why
    """Return something."""
    return 1.0 / t
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# why", "# because"),
        ("Return something.", "Return something else."),
        ("About the module.", "More about the module."),
        ("1.0 / t", "1.0/t"),
        ("def bonus", "\n\ndef bonus"),
    ],
)
def test_words_and_layout_do_not_count(old: str, new: str) -> None:
    assert code_of(SOURCE.replace(old, new)) == code_of(SOURCE)


@pytest.mark.parametrize(("old", "new"), [("1.0", "2.0"), ("bonus", "malus"), ("/ t", "/ t + 0")])
def test_code_counts(old: str, new: str) -> None:
    assert code_of(SOURCE.replace(old, new, 1)) != code_of(SOURCE)


def test_a_moved_statement_counts() -> None:
    inside = "if a:\n    b()\n    c()\n"
    outside = "if a:\n    b()\nc()\n"
    assert code_of(inside) != code_of(outside)


def test_a_string_that_is_used_is_no_docstring() -> None:
    assert code_of('x = "a"\n') != code_of('x = "b"\n')
    assert code_of('f("a")\n') != code_of('f("b")\n')


def test_what_is_not_python_counts_by_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("def (:\n")
    before = file_digest(file)
    file.write_text("def (: \n")
    assert len(before) == 16
    assert before != file_digest(file)


def test_files_count_by_name_and_code(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "b.py").write_text("x = 2\n")
    one = digest_of([tmp_path / "a.py", tmp_path / "b.py"])
    assert one == digest_of([tmp_path / "b.py", tmp_path / "a.py"])
    (tmp_path / "a.py").rename(tmp_path / "c.py")
    assert one != digest_of([tmp_path / "c.py", tmp_path / "b.py"])


def test_every_method_has_a_digest() -> None:
    assert {"ours", "margin", "greedy", "ours_theory"} <= set(METHODS)
    assert METHODS["ours"] != METHODS["margin"]


def test_a_method_may_be_a_package_and_every_file_of_it_counts(tmp_path: Path) -> None:
    (tmp_path / "large" / "parts").mkdir(parents=True)
    (tmp_path / "small.py").write_text("x = 1\n")
    for name in ("__init__.py", "one.py", "parts/two.py"):
        (tmp_path / "large" / name).write_text("x = 1\n")
    before = method_digests(tmp_path)
    assert set(before) == {"small", "large"}
    (tmp_path / "large" / "parts" / "two.py").write_text("x = 2\n")
    after = method_digests(tmp_path)
    assert after["large"] != before["large"]
    assert after["small"] == before["small"]
