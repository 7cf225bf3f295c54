"""The pictures of the pages are what `docs/draw.py` draws: the same numbers, the same words."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from docs import draw
from hloom.dtypes import lattice

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SVG = "{http://www.w3.org/2000/svg}"
DESCRIPTION = "{http://purl.org/dc/elements/1.1/}description"


def read(path: Path) -> tuple[list[str], object]:
    """The words of a picture, and the numbers in its description."""
    root = ElementTree.parse(path).getroot()
    described = next(root.iter(DESCRIPTION)).text
    return [x.text or "" for x in root.iter(f"{SVG}text")], json.loads(described or "")


def numbers(value: object) -> list[float]:
    """All numbers in nested lists and dicts, in their order."""
    if isinstance(value, dict):
        value = [*value.values()]
    return [x for y in value for x in numbers(y)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("name", draw.DRAWINGS)
def test_picture_is_what_is_drawn_now(name: str, tmp_path: Path) -> None:
    draw.save(name, tmp_path)
    words, data = read(PICTURES / f"{name}.svg")
    words_now, data_now = read(tmp_path / f"{name}.svg")
    assert words == words_now
    if name == "promotion":
        assert data == data_now
    else:
        np.testing.assert_allclose(numbers(data), numbers(data_now), atol=2e-3)


def test_the_lattice_is_drawn_whole() -> None:
    drawn = {*draw.PLACES, *(node for nodes, _ in draw.NARROW.values() for node in nodes)}
    assert drawn == {*lattice.STANDARD.arrows}


def test_a_picture_does_not_change_from_run_to_run(tmp_path: Path) -> None:
    draw.save("axes_of_vmap", tmp_path)
    first = (tmp_path / "axes_of_vmap.svg").read_bytes()
    draw.save("axes_of_vmap", tmp_path)
    assert (tmp_path / "axes_of_vmap.svg").read_bytes() == first


def test_examples() -> None:
    assert doctest.testmod(draw).failed == 0
