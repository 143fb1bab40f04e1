"""Any dataset of OpenML as a user's own table: the real client, a server on the loopback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pipeline.data.configured import load_named
from pipeline.data.errors import DataError, UnavailableError
from pipeline.data.own_table import load_openml
from pipeline.data.sources import Settings

Make = Callable[..., Settings]
Offer = Callable[..., None]
here = pytest.mark.usefixtures("in_this_process")
HEADER = "@RELATION r\n@ATTRIBUTE V1 REAL\n@ATTRIBUTE V2 {good,bad}\n@ATTRIBUTE job {cook,clerk}\n"
ROWS = ("1.5,good,cook", "2,bad,clerk", "?,good,clerk", "4,bad,cook")
ARFF = f"{HEADER}@DATA\n{chr(10).join(ROWS)}\n".encode()


def test_a_good_answer_in_a_process_of_its_own(offer: Offer, openml_settings: Make) -> None:
    """The target is the one that OpenML names; only columns of the table are left of it."""
    offer(ARFF)
    settings = openml_settings()
    dataset = load_openml(7, positive="bad", settings=settings)
    assert (dataset.name, dataset.source, dataset.protocol) == ("openml_7", "OpenML 7", "own")
    assert dataset.columns == ("V1", "job=clerk", "job=cook")
    np.testing.assert_array_equal(dataset.y, [0, 1, 0, 1])
    np.testing.assert_array_equal(dataset.X[:, 2], [1, 0, 0, 1])
    assert dataset.X[2, 0] == 0  # missing: the mean
    assert dataset.notes[0] == "label 1: V2 = bad (50.0% of 4 rows); label 0: good"
    assert not [path for path in settings.cache.rglob("*") if path.is_file()]


@here
def test_as_a_config(offer: Offer, openml_settings: Make) -> None:
    offer(ARFF)
    changes = {"data_id": 7, "positive": "bad", "group": "job"}
    dataset = load_named("openml", "inferred", openml_settings(), **changes)
    assert dataset.columns == ("V1",)
    assert dataset.group is not None
    assert dataset.group.names == ("clerk", "cook")


@here
def test_the_target_can_be_another_one(offer: Offer, openml_settings: Make) -> None:
    offer(ARFF)
    changes = {"data_id": 7, "target": "job", "positive": "cook"}
    dataset = load_named("openml", "inferred", openml_settings(), **changes)
    assert dataset.columns == ("V1", "V2=bad", "V2=good")
    np.testing.assert_array_equal(dataset.y, [1, 0, 0, 1])


@here
def test_a_target_that_is_not_named_must_be_set(
    server: Any, offer: Offer, openml_settings: Make
) -> None:
    offer(ARFF)
    path = "/api/v1/xml/data/7"
    named = b"<oml:default_target_attribute>V2</oml:default_target_attribute>"
    server.routes[path] = server.routes[path].replace(named, b"")
    with pytest.raises(DataError, match=r"OpenML 7 names no target: .*; columns: V1, V2, job"):
        load_openml(7, positive="bad", settings=openml_settings())


@here
def test_wrong_settings_name_dataset_and_column(offer: Offer, openml_settings: Make) -> None:
    offer(ARFF)
    with pytest.raises(DataError, match=r"OpenML 7: target 'V2' has the values .*dataset.positive"):
        load_openml(7, settings=openml_settings())
    with pytest.raises(DataError, match=r"OpenML 7: there is no column 'jobb'.*did you mean 'job'"):
        load_openml(7, "jobb", "cook", settings=openml_settings())


@here
def test_404(openml_settings: Make) -> None:
    with pytest.raises(UnavailableError, match=r"OpenML 7: OpenMLServerError: .*Status code: 404$"):
        load_named("openml", "inferred", openml_settings(), data_id=7)


def test_offline_asks_no_server(server: Any, offer: Offer, openml_settings: Make) -> None:
    offer(ARFF)
    with pytest.raises(UnavailableError, match=r"OpenML 7: forbidden by data.offline=true"):
        load_named("openml", "inferred", openml_settings(offline=True), data_id=7)
    assert server.asked == []
