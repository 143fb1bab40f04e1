from __future__ import annotations

import pytest

from pipeline.data.sources.published_files import read_files
from pipeline.data.sources.table import table_hash
from pipeline.data.spec import Format, RawFile, Table, TableExpect, Url

CONTENT = b"x,word\n1.5,a\n2,b\n"


@pytest.fixture
def small() -> Table:
    """Two rows of a number and a text, nowhere to be found yet."""
    table = Table({"x": "number", "word": "text"}, TableExpect(2, ""), format=Format(header=True))
    table.expect.sha256 = table_hash(read_files({"f": CONTENT}, table))
    return table


@pytest.fixture
def content() -> bytes:
    """The raw file of the small table."""
    return CONTENT


def at_address(table: Table, address: str, *member: str, sha256: str | None = None) -> Table:
    table.files = [RawFile("small/small.csv", url=Url(address, list(member), sha256))]
    return table


@pytest.fixture(name="at_address")
def at_address_fixture() -> object:
    return at_address
