from __future__ import annotations

from pipeline.core.methods import get_method, method_names
from pipeline.view.style import LOOKS, look


def luminance(colour: str) -> float:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_no_two_methods_of_the_paper_look_alike_even_in_grey() -> None:
    assert len({known.colour for known in LOOKS.values()}) == len(LOOKS)
    assert len({known.dash for known in LOOKS.values()}) == len(LOOKS)


def test_an_approximation_is_called_one() -> None:
    said = {name for name in method_names() if "approx" in look(name).label}
    assert said == {name for name in method_names() if getattr(get_method(name), "approximate", 0)}
    assert said == {"passive_cover"}


def test_every_method_has_a_look_that_stays_the_same() -> None:
    for method in (*method_names(), "my_method"):
        assert look(method) == look(method)
        assert look(method).label
        assert luminance(look(method).colour) < 200
