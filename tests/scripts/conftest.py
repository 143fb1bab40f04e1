"""One BLAS thread: two that spin on a busy machine make a small product ten times slower."""

from collections.abc import Iterator

import pytest
from rivals import sklearn_refit
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def one_blas_thread() -> Iterator[None]:
    sklearn_refit.available()  # loads scipy's BLAS too, so that the limit reaches it
    with threadpool_limits(limits=1):
        yield
