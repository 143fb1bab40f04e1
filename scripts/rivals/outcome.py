"""What a timed rival hands back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Outcome(NamedTuple):
    """Decisions over the stream rows that were run, and the mean cost of one round."""

    accepted: np.ndarray
    seconds_per_round: float
