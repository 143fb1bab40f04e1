"""Any dataset of OpenML as a user's own table: the real client, a server on the loopback."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pipeline.data.configured import load_named
from pipeline.data.errors import DataError, MismatchError, UnavailableError
from pipeline.data.own_table import load_openml
from pipeline.data.sources import Settings

Make = Callable[..., Settings]
Offer = Callable[..., None]
here = pytest.mark.usefixtures("in_this_process")
HEADER = "@RELATION r\n@ATTRIBUTE V1 REAL\n@ATTRIBUTE V2 {good,bad}\n@ATTRIBUTE job {cook,clerk}\n"
ROWS = ("1.5,good,cook", "2,bad,clerk", "?,good,clerk", "4,bad,cook")
ARFF = f"{HEADER}@DATA\n{chr(10).join(ROWS)}\n".encode()


def kept(settings: Settings) -> list[str]:
    found = (path for path in settings.cache.rglob("*") if path.is_file())
    names = (str(path.relative_to(settings.cache)) for path in found)
    return sorted(name for name in names if not name.startswith("locks/"))


def test_a_good_answer_in_a_process_of_its_own(offer: Offer, openml_settings: Make) -> None:
    """The target is the one that OpenML names; the table is kept, files of the client are not."""
    offer(ARFF)
    settings = openml_settings()
    dataset = load_openml(7, positive="bad", settings=settings)
    assert (dataset.name, dataset.source, dataset.protocol) == ("openml_7", "OpenML 7", "own")
    assert dataset.columns == ("V1", "job=clerk", "job=cook")
    np.testing.assert_array_equal(dataset.y, [0, 1, 0, 1])
    np.testing.assert_array_equal(dataset.X[:, 2], [1, 0, 0, 1])
    assert dataset.X[2, 0] == 0  # missing: the mean
    assert dataset.notes[0] == "label 1: V2 = bad (50.0% of 4 rows); label 0: good"
    assert kept(settings) == ["openml/7.parquet"]


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


@here
@pytest.mark.parametrize("offline", [False, True])
def test_it_is_asked_for_once_and_then_found_without_a_server(
    server: Any, offer: Offer, openml_settings: Make, offline: bool
) -> None:
    offer(ARFF)
    first = load_openml(7, positive="bad", settings=openml_settings())
    asked = len(server.asked)
    server.close()
    again = load_openml(7, positive="bad", settings=openml_settings(offline=offline))
    assert len(server.asked) == asked
    assert (again.columns, again.notes) == (first.columns, first.notes)
    np.testing.assert_array_equal(again.X, first.X)
    np.testing.assert_array_equal(again.y, first.y)


@here
def test_another_server_has_other_datasets(offer: Offer, openml_settings: Make) -> None:
    offer(ARFF)
    load_openml(7, positive="bad", settings=openml_settings())
    other = openml_settings(openml_server="http://127.0.0.1:9/api", offline=True)
    with pytest.raises(UnavailableError, match=r"forbidden by data.offline=true"):
        load_openml(7, positive="bad", settings=other)


@here
def test_a_kept_file_that_has_gone_bad_is_removed(offer: Offer, openml_settings: Make) -> None:
    offer(ARFF)
    settings = openml_settings()
    load_openml(7, positive="bad", settings=settings)
    path = settings.cache / "openml" / "7.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(MismatchError, match=r"7.parquet: .*removed it, the next call fetches it"):
        load_openml(7, positive="bad", settings=settings)
    assert load_openml(7, positive="bad", settings=settings).y.sum() == 2


@here
def test_a_disk_without_space(
    offer: Offer, openml_settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object, path: Path, **__: object) -> None:
        path.write_bytes(b"PAR1")
        raise OSError(errno.ENOSPC, "No space left on device")

    offer(ARFF)
    settings = openml_settings()
    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    table = pa.table({"V1": [1.0]})
    monkeypatch.setattr("pipeline.data.sources.openml.fetch_arrow", lambda *_: (table, "V2"))
    with pytest.raises(DataError, match=r"7.parquet cannot be written: No space .*ONESIDED_CACHE"):
        load_openml(7, positive="bad", settings=settings)
    assert kept(settings) == []


@here
@pytest.mark.parametrize("announced", [True, False])
def test_a_file_above_the_limit(
    server: Any, offer: Offer, openml_settings: Make, announced: bool
) -> None:
    offer(ARFF)
    if not announced:
        server.routes["/small.arff"] = lambda request: server.send(request, ARFF, None)
    settings = openml_settings(max_bytes=len(ARFF) - 1)
    size = f"has {len(ARFF)} bytes, the limit is {len(ARFF) - 1}"
    with pytest.raises(DataError, match=rf"^OpenML 7 {size} .data.max_bytes.$"):
        load_openml(7, positive="bad", settings=settings)
    assert kept(settings) == []
    assert server.asked.count("/small.arff") == (1 if announced else 2)
    load_openml(7, positive="bad", settings=openml_settings(max_bytes=len(ARFF)))


@pytest.mark.parametrize("data_id", ["abc", -3, 3.5, [31, 37], True])
def test_an_id_that_is_no_number(data_id: Any) -> None:
    with pytest.raises(DataError, match=r"^dataset.data_id=.* is not a number; name the number"):
        load_named("openml", "inferred", Settings.of(offline=True), data_id=data_id)
