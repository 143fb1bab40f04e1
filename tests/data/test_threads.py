from __future__ import annotations

import threading

import pytest

from pipeline.data import threads


def test_results_come_in_order_and_on_several_threads_only_where_it_pays() -> None:
    meet = threading.Barrier(2, timeout=300)

    def waiting(item: int) -> int:
        meet.wait()
        return item

    if (threads.os.cpu_count() or 1) > 1:  # type: ignore[attr-defined]
        assert threads.each(waiting, range(4), threads.MANY) == [0, 1, 2, 3]
    here = threads.each(lambda _: threading.current_thread(), range(3), threads.MANY - 1)
    assert set(here) == {threading.current_thread()}


@pytest.mark.parametrize("rows", [1, threads.MANY])
def test_the_first_error_in_order_is_raised(rows: int) -> None:
    def odd(item: int) -> int:
        if item % 2:
            raise ValueError(str(item))
        return item

    with pytest.raises(ValueError, match=r"^1$"):
        threads.each(odd, range(8), rows)
