from __future__ import annotations

from pipeline.results.journal import Run
from pipeline.summary.layout import with_variants

LABELS = {"dataset": "blood", "method": "ours"}


def names(*jobs: list[str]) -> list[str]:
    entries = [Run(number, "computed", LABELS) for number in range(len(jobs))]
    return [entry.labels["method"] for entry in with_variants(entries, jobs)]


def test_what_a_table_shows_anyway_makes_no_variant() -> None:
    jobs = (["cutoff=0.5", "splits=2"], ["cutoff=0.7", "splits=2"])
    assert names(*jobs) == ["ours", "ours"]


def test_whatever_else_is_swept_tells_jobs_apart() -> None:
    jobs = (["cutoff=0.5", "seed=0", "+method.k=1"], ["cutoff=0.5", "seed=1", "+method.k=1"])
    assert names(*jobs) == ["ours seed=0", "ours seed=1"]


def test_a_job_that_never_got_a_name_stays_without() -> None:
    entry = Run(0, "failed")
    assert with_variants([entry], [["seed=0"], ["seed=1"]]) == [entry]
    assert with_variants([entry], []) == [entry]
