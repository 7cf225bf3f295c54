"""Modules that are imported when they are first used."""

from __future__ import annotations

import sys

import pytest

from hloom.core.support.lazy import LazyModule


def test_a_lazy_module_is_imported_by_the_first_name_asked_for() -> None:
    sys.modules.pop("colorsys", None)
    module = LazyModule("colorsys")
    assert not hasattr(module, "__wrapped__") and "colorsys" not in sys.modules
    assert module.rgb_to_hsv is sys.modules["colorsys"].rgb_to_hsv  # type: ignore[attr-defined]
    assert "rgb_to_hsv" in vars(module)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = LazyModule("math").no_such_name
