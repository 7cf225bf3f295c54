"""What every test run stands in: how long hypothesis looks, and where executables are cached.

`ci` (the default) draws the same examples every time, so that a red run is red again.
`explore` is for an evening:  HYPOTHESIS_PROFILE=explore make test
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from hypothesis import HealthCheck, settings

# A first compile outlasts any per-example deadline, and says nothing about the example.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}


def prepare() -> None:
    """Called by the conftest of each test folder, before hloom is imported."""
    settings.register_profile("ci", max_examples=25, derandomize=True, **COMMON)
    settings.register_profile("explore", max_examples=1000, **COMMON)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
    own_cache()


def own_cache() -> None:
    """A run neither reads nor fills the user's cache; its worker processes share one folder."""
    if "HLOOM_CACHE_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="hloom-tests-")
        os.environ["HLOOM_CACHE_DIR"] = folder
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
