"""How a method looks, the same in every figure.

Colours are those of Okabe & Ito (2008), made for colour-blind readers; the line styles differ too,
so that methods can be told apart in greyscale.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Look(NamedTuple):
    """Label, colour and line of a method."""

    label: str
    colour: str
    dash: tuple[float, ...] = ()
    width: float = 1.4

    @property
    def line(self) -> dict[str, Any]:
        """Return colour and line as matplotlib wants them."""
        dashes = self.dash or (None, None)
        return {"color": self.colour, "linewidth": self.width, "dashes": dashes}


LOOKS = {
    "greedy": Look("greedy", "#000000", (1, 1)),
    "eps_greedy": Look("ε-greedy", "#56B4E9", (4.5, 1.8)),
    "os_eps_greedy": Look("one-sided ε-greedy", "#0072B2", (5, 1.5, 1, 1.5)),
    "noise": Look("noise", "#E69F00", (1.8, 1.4), 1.7),
    "os_noise": Look("one-sided noise", "#CC79A7", (11, 2.5)),
    "margin": Look("margin", "#009E73", (8, 1.5, 1, 1.5, 1, 1.5)),
    "ours": Look("ours", "#D55E00", (), 2.4),
    "passive": Look("passive", "#7B3294", (3, 1, 1, 1, 1, 1)),
    "ours_log": Look("ours, growing alpha", "#1B7837", (14, 2)),
    "ours_theory": Look("ours, constants of the proof", "#8C564B", (2.6, 1)),
    "passive_cover": Look("passive (approx.)", "#B07CC6", (3, 1, 1, 1, 1, 1, 1, 1)),
    "erm": Look("erm", "#C51B7D", (2.4, 1.2, 7, 1.2)),
    "sgd": Look("SGD", "#666666", (6.5, 1.5, 2, 1.5)),
}
SPARE = ("#666666", "#8C564B", "#17BECF", "#9467BD")


def look(method: str) -> Look:
    """Return a method's look; methods without one of their own share the spare colours."""
    if method in LOOKS:
        return LOOKS[method]
    return Look(method.replace("_", " "), SPARE[sum(method.encode()) % len(SPARE)])
