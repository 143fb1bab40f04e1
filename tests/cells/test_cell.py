from __future__ import annotations

import pytest

from pipeline.cells.errors import ConfigError
from pipeline.cells.read import make_cell
from tests.cells.configs import values


def test_the_grid_of_the_protocol_is_the_default() -> None:
    cell = make_cell(values())
    assert cell.alphas == tuple(2.0**k for k in range(-10, 5))
    assert cell.splits == tuple(range(10))
    assert cell.cutoff.quantile == 0.5
    assert cell.labels == {
        "protocol": "inferred",
        "dataset": "diabetes",
        "link": "linear",
        "cutoff": "0.5",
        "method": "ours",
    }


@pytest.mark.parametrize(
    ("dataset", "link", "protocol", "size"),
    [
        ("adult", "linear", "inferred", 1),
        ("adult", "logistic", "inferred", 1000),
        ("bank", "logistic", "inferred", 1000),
        ("eeg_eye", "logistic", "stated", 1000),
        ("compas", "logistic", "inferred", 100),
        ("blood", "logistic", "stated", 100),
    ],
)
def test_batch_sizes_are_those_of_the_paper(
    dataset: str, link: str, protocol: str, size: int
) -> None:
    cell = make_cell(values(f"dataset={dataset}", f"link={link}", f"protocol={protocol}"))
    assert cell.setting.batch_size == size


def test_the_protocols_differ_as_documented() -> None:
    inferred = make_cell(values("link=logistic")).setting
    stated = make_cell(values("link=logistic", "protocol=stated")).setting
    assert inferred.model["score"] == "contrast"
    assert stated.model["score"] == "mean"
    assert inferred.model["fit_intercept"] is True
    linear = make_cell(values()).setting
    assert linear.initial == {"share": 0.05, "count": 50}
    assert make_cell(values("protocol=stated")).setting.initial == {"share": 0.05, "count": None}
    assert linear.model["l2"] == 1.0
    assert linear.truth["l2"] == 0.0


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [("0.5", (0.5,)), ("[1,0.25]", (0.25, 1.0)), ("0", (0.0,)), ("[2,2]", (2.0,))],
)
def test_alpha_takes_a_number_or_a_list(alpha: str, expected: tuple[float, ...]) -> None:
    assert make_cell(values(f"alpha={alpha}")).alphas == expected


def test_a_method_without_alpha_has_one_lane() -> None:
    assert make_cell(values("method=greedy")).alphas == (0.0,)


def test_splits_take_a_number_or_a_list() -> None:
    assert make_cell(values("splits=3")).splits == (0, 1, 2)
    assert make_cell(values("splits=[4,11]")).splits == (4, 11)


def test_an_absolute_cutoff_takes_the_place_of_the_quantile() -> None:
    cutoff = make_cell(values("cutoff_value=0.3")).cutoff
    assert (cutoff.quantile, cutoff.value, cutoff.label) == (None, 0.3, "value_0.3")


def test_synthetic_labels_follow_the_link_of_the_run() -> None:
    assert make_cell(values("dataset=glm", "link=probit")).dataset["link"] == "probit"
    mixed = make_cell(values("dataset=glm", "dataset.link=logistic"))
    assert (mixed.dataset["link"], mixed.link) == ("logistic", "linear")


def test_a_dataset_may_bring_its_own_cutoff() -> None:
    assert make_cell(values("dataset=greedy_trap")).cutoff.value == 0.5
    assert make_cell(values("dataset=greedy_trap", "cutoff=0.7")).cutoff.quantile == 0.7
    contrast = make_cell(values("dataset=greedy_trap", "dataset.cutoff=0.7", "link=logistic"))
    assert contrast.cutoff.value == pytest.approx(2 * 0.7 - 0.5)  # on the scale of the score


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("cutoff=1.5", "cutoff_value=1.5"),
        ("cutoff=0", "between 0 and 1"),
        ("cutoff=abc", "cutoff=abc"),
        ("alpha=-1", "alpha=-1"),
        ("alpha=[0.5,-1]", "at least 0"),
        ("alpha=[]", "alpha=[]"),
        ("alpha=gird", "neither grid"),
        ("alpha=true", "alpha=True"),
        ("splits=0", "splits=0"),
        ("splits=[1,1]", "once"),
        ("splits=2.5", "splits=2.5"),
        ("seed=-1", "seed=-1"),
        ("curve_points=0", "curve_points=0"),
        ("protocol.batch_size=0", "protocol.batch_size=0"),
        ("protocol.model.l2=-1", "protocol.model"),
        ("protocol.model.score=contrst", "contrast"),
        ("+protocol.model.ridge=1", "protocol.model"),
    ],
)
def test_nonsense_is_refused_by_its_key(override: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        make_cell(values(override))
    assert said in str(refused.value)


def test_two_cutoffs_are_one_too_many() -> None:
    with pytest.raises(ConfigError, match="exclude each other"):
        make_cell(values("cutoff=0.5", "cutoff_value=0.5"))


def test_an_own_table_is_called_by_its_file() -> None:
    found = make_cell(values("dataset=csv", "dataset.path=x/loans.csv.gz", "dataset.target=repaid"))
    assert found.dataset_label == "loans"
