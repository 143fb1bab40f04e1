"""A learner in the middle of its work."""

from __future__ import annotations

from typing import Any

from pipeline.core.learner import OneSidedLearner
from pipeline.core.methods import Method
from pipeline.core.methods.checks.streams import drive, make_stream


def used_learner(
    link: str = "logistic", method: str | Method = "os_noise", **options: Any
) -> OneSidedLearner:
    """A learner after five rounds of nine, with rows that wait for labels two rounds late."""
    X0, y0, X, y = make_stream(link).ordered()
    mean = make_stream(link).cutoff - 0.1
    cutoff = 2 * mean - 0.5 if options.get("score") == "contrast" else mean
    given = {"cutoff": cutoff, "alpha": 0.3, "seed": 5, **options}
    learner = OneSidedLearner(link=link, method=method, **given).fit(X0, y0)
    list(drive(learner, X[:45], y[:45], 9, delay=2))
    return learner
