"""Who bears the mistakes: results for each group, under the tuned alpha."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.results.outcome import Outcome


@dataclass(frozen=True)
class GroupRates:
    """One group of one run, over all splits.

    Attributes:
        group: its name.
        loss: mean over splits of its part of R_T.
        accepted_rate: accepted rows / rows.
        missed_rate: rows rejected though truly above the cutoff / rows truly above it.
        rows: of the group in all streams together.
    """

    group: str
    loss: float
    accepted_rate: float | None
    missed_rate: float | None
    rows: int


def group_rates(outcome: Outcome) -> list[GroupRates]:
    """Return the rates of each group, in the order of the groups; none where none is named."""
    if outcome.groups is None:
        return []
    tuned = outcome.groups["alpha"] == outcome.summary["alpha"]
    columns = {name: values[tuned] for name, values in outcome.groups.items()}
    names = list(dict.fromkeys(columns["group"].tolist()))
    return [_rates(str(name), columns["group"] == name, columns) for name in names]


def _rates(name: str, chosen: np.ndarray, columns: dict[str, np.ndarray]) -> GroupRates:
    total = {
        key: int(columns[key][chosen].sum()) for key in ("rows", "above", "accepted", "missed")
    }
    return GroupRates(
        group=name,
        loss=float(columns["loss"][chosen].mean()),
        accepted_rate=_ratio(total["accepted"], total["rows"]),
        missed_rate=_ratio(total["missed"], total["above"]),
        rows=total["rows"],
    )


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
