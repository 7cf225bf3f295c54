"""The namespace by the array API standard, and results in the containers NumPy puts them in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hloom
import hloom.numpy as jnp


# ---- what the namespace says about itself --------------------------------------------------------
def test_the_namespace_knows_itself():
    x = jnp.ones(2)
    assert x.__array_namespace__() is jnp
    assert x.__array_namespace__(api_version=jnp.__array_api_version__) is jnp
    with pytest.raises(ValueError, match=r"'1999\.1'.*'2024\.12'"):
        x.__array_namespace__(api_version="1999.1")


def test_info_names_the_device_and_follows_the_bits():
    info = jnp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.capabilities() == {
        "boolean indexing": True, "data-dependent shapes": True, "max dimensions": None,
    }  # fmt: skip
    assert info.default_dtypes()["integral"] == np.int32
    assert "float64" not in info.dtypes()
    with hloom.enable_x64():
        assert info.default_dtypes(device=jnp.ones(1).device) == {
            "real floating": np.float64, "complex floating": np.complex128, "integral": np.int64,
            "indexing": np.int64,
        }  # fmt: skip
        assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
        assert len(info.dtypes(kind="integral")) == 8
        assert len(info.dtypes()) == 13
    assert list(info.dtypes(kind=("bool", "complex floating"))) == ["bool", "complex64"]
    for name, dtype in info.dtypes().items():
        assert jnp.empty(1, dtype=dtype).dtype.name == name


def test_info_refuses_what_it_does_not_know():
    info = jnp.__array_namespace_info__()
    with pytest.raises(ValueError, match="'floaty'.*'real floating'"):
        info.dtypes(kind="floaty")
    with pytest.raises(ValueError, match="no device 'gpu'"):
        info.dtypes(device="gpu")


# ---- containers of results -----------------------------------------------------------------------
PROGRAMS = """
    xp.meshgrid(xp.arange(2), xp.arange(3))
    xp.meshgrid()
    xp.broadcast_arrays(1, xp.arange(3))
    xp.split(xp.arange(4), 2)
    xp.array_split(xp.arange(4), 3)
    xp.vsplit(xp.ones((2, 2)), 2)
    xp.unstack(xp.ones((2, 2)))
    xp.nonzero(xp.arange(3))
    xp.where(xp.arange(3))
    xp.ix_([0], [1])
    xp.atleast_1d(1, 2)
    xp.atleast_3d(1, 2)
    xp.gradient(xp.ones((3, 3)))
    xp.gradient(xp.ones((3, 4)), 2.0, edge_order=2)
    xp.unravel_index(3, (2, 2))
    xp.indices((2, 2), sparse=True)
    xp.modf(xp.ones(2))
    xp.frexp(xp.ones(2))
    xp.divmod(3, 2)
    xp.histogram(xp.arange(3))
    xp.histogram2d(xp.arange(3.0), xp.arange(3.0))
    xp.histogramdd(xp.ones((3, 2)))[1]
    xp.unique(xp.arange(3), return_counts=True)
    xp.unique_all(xp.arange(3))
    xp.unique_counts(xp.arange(3))
    xp.tril_indices(2)
    xp.triu_indices_from(xp.ones((2, 2)))
    xp.diag_indices(2)
    xp.intersect1d(xp.arange(3), xp.arange(2), return_indices=True)
    xp.linspace(0, 1, 3, retstep=True)
    xp.average(xp.arange(3), returned=True)
    xp.shape(xp.ones((2, 3)))
    xp.ogrid[0:2, 0:2]
    xp.broadcast_shapes((1,), (3,))
    xp.ones(3).tolist()
"""


def described(value: Any) -> Any:
    """Containers, fields, shapes, dtypes, values; -0.0 differs from 0.0."""
    if isinstance(value, (tuple, list)):
        fields = getattr(value, "_fields", type(value).__name__)
        return fields, [described(x) for x in value]
    if isinstance(value, (np.ndarray, np.generic, hloom.Array)):
        return np.shape(value), str(value.dtype), str(np.asarray(value).tolist())
    return type(value), value


@pytest.mark.parametrize("program", [line.strip() for line in PROGRAMS.strip().splitlines()])
def test_results_come_as_numpys_do(program):
    with hloom.enable_x64():
        assert described(eval(program, {"xp": jnp})) == described(eval(program, {"xp": np}))
