from __future__ import annotations

from itertools import product

from pipeline.jobs.early import covering


def test_a_cover_has_every_value_and_few_jobs() -> None:
    axes = [[f"{key}={n}" for n in range(size)] for key, size in (("a", 10), ("b", 2), ("c", 7))]
    jobs = [list(job) for job in product(*axes)]
    chosen = covering(jobs)
    assert {value for job in chosen for value in job} == {value for axis in axes for value in axis}
    assert len(chosen) == 10  # as many as the longest axis needs
    assert all(job in jobs for job in chosen)


def test_a_single_job_covers_itself() -> None:
    assert covering([["a=1"]]) == [["a=1"]]
    assert covering([]) == []
