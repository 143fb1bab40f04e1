"""Property tests try the same examples every time; HYPOTHESIS_PROFILE=explore tries new ones."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeat", derandomize=True)
settings.register_profile("explore", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))
