from __future__ import annotations

import pytest

from pipeline.paper.collection import Collection
from pipeline.paper.comparison.compare import Comparison, compare
from tests.paper.made_up_collection import near_the_paper


@pytest.fixture(scope="package")
def collection() -> Collection:
    """A full collection whose figures lie near the published ones."""
    return near_the_paper()


@pytest.fixture(scope="package")
def comparison(collection: Collection) -> Comparison:
    return compare(collection)
