from __future__ import annotations

from pathlib import Path

import pytest

from hloom.engines import ENGINES, disk_cache
from hloom.engines.xla import XlaEngine


@pytest.fixture(scope="session")
def xla() -> XlaEngine:
    engine: XlaEngine = ENGINES["xla"]
    return engine


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of engines that the test makes; nothing has been warned of."""
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(disk_cache, "_warned", set())
    return tmp_path / "cache"
