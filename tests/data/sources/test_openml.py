"""The real openml client against a server on the loopback interface."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.data.errors import DataError, MismatchError, UnavailableError
from pipeline.data.sources import Settings, find_table
from pipeline.data.sources.openml import fetch_arrow
from pipeline.data.spec import OpenML, Table, read_spec
from tests.data.conftest import DESCRIPTION
from tests.data.published import bundled_table

Make = Callable[..., Settings]
Offer = Callable[..., None]
here = pytest.mark.usefixtures("in_this_process")
ARFF = b"@RELATION r\n@ATTRIBUTE V1 REAL\n@ATTRIBUTE V2 {1,2}\n@DATA\n1.5,1\n2,2\n"
MD5 = hashlib.md5(ARFF).hexdigest()
NOT_FOUND = b"""<oml:error xmlns:oml="http://openml.org/openml">
  <oml:code>111</oml:code><oml:message>Unknown dataset</oml:message></oml:error>"""


@pytest.fixture
def on_openml(small: Table) -> Table:
    small.openml = OpenML(7, {"word": {1: "a", 2: "b"}})
    return small


def kept(settings: Settings) -> list[str]:
    found = (path for path in settings.cache.rglob("*") if path.is_file())
    return sorted(path.name for path in found if "locks" not in path.parts)


def test_a_good_answer_is_kept_and_found_again_without_the_server(
    server: Any, on_openml: Table, offer: Offer, openml_settings: Make
) -> None:
    offer(ARFF)
    settings = openml_settings()
    frame, source = find_table("small", on_openml, settings)
    assert source == "openml"
    assert frame["x"].tolist() == [1.5, 2.0]
    assert frame["word"].tolist() == ["a", "b"]
    assert kept(settings) == ["small.parquet"]
    server.close()
    again, source = find_table("small", on_openml, settings)
    assert source == "cache"
    assert again.equals(frame)


@here
def test_404(on_openml: Table, openml_settings: Make) -> None:
    settings = openml_settings()
    with pytest.raises(
        UnavailableError, match=r"openml: OpenML 7: OpenMLServerError: .*Status code: 404$"
    ):
        find_table("small", on_openml, settings)
    assert kept(settings) == []


@here
def test_the_servers_own_word_for_an_unknown_dataset(
    server: Any, on_openml: Table, openml_settings: Make
) -> None:
    def unknown(request: Any) -> None:
        request.send_response(412)
        request.end_headers()
        request.wfile.write(NOT_FOUND)

    server.routes["/api/v1/xml/data/7"] = unknown
    with pytest.raises(UnavailableError, match="Unknown dataset"):
        find_table("small", on_openml, openml_settings())


@here
def test_a_wrong_checksum(on_openml: Table, offer: Offer, openml_settings: Make) -> None:
    offer(ARFF.replace(b"1.5", b"15"), MD5)
    settings = openml_settings()
    with pytest.raises(DataError, match="OpenML 7: wrong checksum"):
        find_table("small", on_openml, settings)
    assert kept(settings) == []


@here
def test_a_truncated_file(
    server: Any, on_openml: Table, offer: Offer, openml_settings: Make
) -> None:
    offer(lambda request: server.send(request, ARFF[:60], len(ARFF)), MD5)
    settings = openml_settings()
    with pytest.raises(DataError, match="OpenML 7: "):
        find_table("small", on_openml, settings)
    assert kept(settings) == []


@here
def test_a_file_that_lost_its_decimal_point_with_the_checksum_of_it(
    on_openml: Table, offer: Offer, openml_settings: Make
) -> None:
    damaged = ARFF.replace(b"1.5", b"15")
    offer(damaged)
    settings = openml_settings()
    with pytest.raises(MismatchError, match="hash of values: expected"):
        find_table("small", on_openml, settings)
    assert kept(settings) == []


def test_a_server_that_never_answers_is_given_up(
    server: Any, on_openml: Table, openml_settings: Make
) -> None:
    server.routes["/api/v1/xml/data/7"] = server.never
    settings = openml_settings(time_limit=8.0)
    with pytest.raises(UnavailableError, match="OpenML 7: no answer within 8 s"):
        find_table("small", on_openml, settings)
    assert kept(settings) == []


@here
def test_another_number_of_columns(on_openml: Table, offer: Offer, openml_settings: Make) -> None:
    offer(ARFF)
    on_openml.columns = {**on_openml.columns, "third": "number"}
    with pytest.raises(DataError, match="OpenML 7: 3 columns expected, 2 found"):
        find_table("small", on_openml, openml_settings())


@here
def test_any_dataset_as_the_client_gives_it(offer: Offer, openml_settings: Make) -> None:
    offer(ARFF)
    table, target = fetch_arrow(7, openml_settings())
    assert table.column_names == ["V1", "V2"]
    assert target == "V2"


@here
@pytest.mark.parametrize("name", ["blood", "diabetes", "eeg_eye", "australian", "churn"])
def test_the_five_from_a_prefilled_openml_cache(
    name: str, tmp_path: Path, make_settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The values of the published files, although names and labels differ; no server is asked."""
    spec = read_spec(name)
    table = spec.tables[spec.protocols["inferred"].table]
    assert table.openml is not None
    folder = tmp_path / "users" / "org/openml/www/datasets" / str(table.openml.data_id)
    folder.mkdir(parents=True)
    arff = as_on_openml(bundled_table(name, name), table.openml)
    description = DESCRIPTION.format(
        id=table.openml.data_id, name=name, address="https://www.openml.org",
        target=f"V{len(table.columns)}", md5=hashlib.md5(arff).hexdigest(),
    )  # fmt: skip
    before = {
        "dataset.arff": arff,
        "description.xml": description.encode(),
        "dataset.pkl.py3": b"?",
    }
    for file, content in before.items():
        (folder / file).write_bytes(content)
    monkeypatch.setenv("OPENML_CACHE_DIR", str(tmp_path / "users"))
    table.bundled = False
    frame, source = find_table(name, table, make_settings())
    assert source == "openml"
    assert frame.equals(bundled_table(name, name))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def as_on_openml(frame: pd.DataFrame, declared: OpenML) -> bytes:
    """The ARFF file: other names of columns, and the target's own values."""
    target = frame.columns[-1]
    theirs = {ours: str(value) for value, ours in declared.values.get(target, {}).items()}
    labels = [theirs.get(value, f"{value:g}") for value in frame[target]]
    types = [*["REAL"] * (len(frame.columns) - 1), f"{{{','.join(sorted(set(labels)))}}}"]
    head = [f"@ATTRIBUTE V{place} {kind}" for place, kind in enumerate(types, start=1)]
    cells = frame.drop(columns=target).to_numpy().tolist()
    rows = [
        ",".join([*(f"{cell:.15g}" for cell in row), label])
        for row, label in zip(cells, labels, strict=True)
    ]
    return "\n".join(["@RELATION r", *head, "@DATA", *rows, ""]).encode()
