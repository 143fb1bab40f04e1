"""What every method owes, whoever wrote it: checks to run on a method of your own.

A method that passes them reads no label it has not paid for, explores with its own draws only, and
decides the same in the engine as in the streaming learner::

    check_method("fading")  # AssertionError at the first fault, with what may mend it

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_fading(check):
        check("fading")

The checks themselves are in :mod:`pipeline.core.methods.checks.each`.
"""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """Load the checks once they are asked for: they need the engine, which needs the methods."""
    return getattr(importlib.import_module(f"{__name__}.each"), name)
