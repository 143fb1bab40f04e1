from __future__ import annotations

import re
from typing import Any

import pytest
from omegaconf import OmegaConf

from pipeline.data.encode.encoder import declared_steps
from pipeline.data.errors import DataError
from pipeline.data.spec import dataset_names, parse_spec, read_spec
from pipeline.files import conf_dir

SHA256 = re.compile(r"[0-9a-f]{64}")


@pytest.mark.parametrize("name", dataset_names())
def test_every_config_opens_with_its_command(name: str) -> None:
    first = (conf_dir() / "dataset" / f"{name}.yaml").read_text().splitlines()[0]
    assert first == f"# python -m pipeline.data describe {name}"


@pytest.mark.parametrize("name", dataset_names())
def test_every_config_is_whole(name: str) -> None:
    spec = read_spec(name)
    assert spec.name == name
    for recipe in spec.protocols.values():
        assert recipe.table in spec.tables
        assert SHA256.fullmatch(recipe.expect.sha256)
        list(declared_steps(recipe.encode))
    for table in spec.tables.values():
        assert set(table.columns.values()) <= {"number", "text"}
        assert SHA256.fullmatch(table.expect.sha256)
        assert table.openml or all(file.url for file in table.files)
        assert all(SHA256.fullmatch(file.sha256 or "") for file in table.files)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"titel": "x"}, "titel"),
        ({"tables": {"blood": {"bundeld": True}}}, "bundeld"),
        ({"protocols": {"inferred": {"intercept": "perhaps"}}}, "intercept"),
        ({"tables": {"blood": {"expect": {"rows": "many"}}}}, "rows"),
    ],
)
def test_a_key_or_value_that_is_not_known_is_an_error(change: dict[str, Any], message: str) -> None:
    config = OmegaConf.load(conf_dir() / "dataset" / "blood.yaml")
    with pytest.raises(DataError, match=rf"^blood.yaml: .*(?s:.*){message}"):
        parse_spec(OmegaConf.merge(config, change), "blood.yaml")
