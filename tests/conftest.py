"""Property tests try the same examples every time; HYPOTHESIS_PROFILE=explore tries new ones."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# No example has to be quick: how long one takes says how busy the machine is.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeat", PATIENT, derandomize=True)
settings.register_profile("explore", PATIENT, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))
