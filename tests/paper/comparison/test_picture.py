from __future__ import annotations

import numpy as np

from pipeline.paper.comparison.compare import compare
from pipeline.paper.comparison.picture import COLOURS, SCALE, verdict_figure
from tests.paper.made_up_collection import near_the_paper, without


def luminance(z: np.ndarray) -> np.ndarray:
    return COLOURS(SCALE(z))[..., :3] @ [0.2126, 0.7152, 0.0722]


def test_what_differs_has_its_sign_and_a_gap_shows_the_hatching() -> None:
    gap = without(near_the_paper(spread=0.3), dataset="crime", link="linear", method="noise")
    comparison = compare(gap)
    linear, logistic = verdict_figure(comparison).axes[:2]
    for axis, link in ((linear, "linear"), (logistic, "logistic")):
        z = comparison.of(link=link).cells["z"]
        signs = [text.get_text() for text in axis.texts if text.get_text() in ("+", "−")]
        assert signs.count("+") == (z >= 2).sum()
        assert signs.count("−") == (z <= -2).sum()
        assert axis.patch.get_hatch()
        shown = np.ma.filled(axis.images[0].get_array(), np.nan)
        assert shown.shape == (10, 70)
        assert np.isnan(shown).sum() == z.isna().sum()
    crime = np.ma.filled(linear.images[0].get_array(), np.nan)[3]
    assert list(np.flatnonzero(np.isnan(crime))) == list(range(30, 40))


def test_lightness_is_the_distance_in_greyscale_too() -> None:
    z = np.linspace(0, 6, 61)
    for side in (luminance(z), luminance(-z)):
        assert (np.diff(side) < 0).all()
    assert np.abs(luminance(z) - luminance(-z)).max() < 0.12
    assert luminance(z)[0] > 0.99
