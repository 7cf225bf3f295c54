from __future__ import annotations

import gc

import ml_dtypes
import numpy as np
import pytest
from jaxlib import _jax

from hloom import dtypes, errors
from hloom.engines import buffers, jaxlib_compat, memory
from tests.engines.programs import aval

NAMES = [row.name for row in dtypes.TABLE]
SHAPES = [(), (3,), (2, 3), (0, 2), (17,)]


def values(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    wide = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 4 - 1
    return np.abs(wide).astype(dtype) if dtypes.kind(dtype) == "unsigned" else wide.astype(dtype)


@pytest.mark.parametrize("put", [buffers.put, buffers.put_owned])
@pytest.mark.parametrize("name", NAMES)
def test_every_dtype_comes_back_as_it_went(name: str, put) -> None:
    dtype = dtypes.as_dtype(name)
    for shape in SHAPES:
        there = values(shape, dtype)
        back = buffers.get(put(there, aval(shape, dtype)), aval(shape, dtype))
        assert back.dtype == dtype and back.shape == shape
        assert back.tobytes() == there.tobytes()
        assert not back.flags.writeable


@pytest.mark.parametrize("dtype", [np.float32, np.int16, ml_dtypes.bfloat16])
def test_strides_of_any_kind_become_c_order(dtype: type) -> None:
    base = np.arange(24).reshape(4, 6).astype(dtype)
    for view in [base.T, base[::-1], base[:, ::2], np.asfortranarray(base), base[1]]:
        kind = aval(view.shape, dtype)
        np.testing.assert_array_equal(buffers.get(buffers.put(view, kind), kind), view)


def test_a_value_of_another_type_is_refused() -> None:
    for value in [np.zeros(3), np.zeros((1, 3), "f4"), np.zeros(3, "i4"), np.zeros(3, ">f4")]:
        with pytest.raises(TypeError, match=r"was given for a buffer of f32\[3\]"):
            buffers.put(value, aval((3,)))


def test_writing_to_the_source_changes_nothing() -> None:
    for _ in range(8):  # jaxlib would alias NumPy's memory where it happens to be aligned
        source = np.ones(1000, "f4")
        buffer = buffers.put(source, aval((1000,)))
        source[:] = 7
        assert (buffers.get(buffer, aval((1000,))) == 1).all()


@pytest.mark.parametrize("dtype", ["float32", ml_dtypes.bfloat16, ml_dtypes.int4])
def test_a_view_outlives_its_buffer(dtype) -> None:
    kind = aval((5000,), dtype)
    there = values((5000,), kind.dtype)
    buffer = buffers.put(there, kind)
    view = buffers.get(buffer, kind)
    buffers.delete(buffer)
    del buffer
    gc.collect()
    others = [buffers.put(np.zeros(5000, kind.dtype), kind) for _ in range(50)]
    np.testing.assert_array_equal(view, there)
    assert others


@pytest.mark.parametrize("dtype", ["float32", ml_dtypes.bfloat16, ml_dtypes.int4])
def test_a_deleted_buffer_is_named_as_such(dtype) -> None:
    kind = aval((3,), dtype)
    buffer = buffers.put(np.zeros(3, dtype), kind)
    buffers.delete(buffer)
    buffers.delete(buffer)  # twice is once
    for use in [buffers.get, buffers.wait]:
        with pytest.raises(errors.DeletedArrayError, match=str(kind).replace("[", r"\[")):
            use(buffer, kind)


@pytest.mark.parametrize("dtype", ["float32", ml_dtypes.bfloat16])
def test_a_failed_computation_raises_when_it_is_read(dtype) -> None:
    there = jaxlib_compat.runtime()
    kind = aval((3,), dtype)

    class Wanted:
        shape, weak_type, sharding = (3,), False, there.sharding

    Wanted.dtype = kind.dtype
    poisoned = _jax._make_error_array(there.client, Wanted, "the callback failed")
    for use in [buffers.get, buffers.wait]:
        with pytest.raises(errors.EngineError, match="the callback failed"):
            use(poisoned, kind)


def test_an_array_beyond_memory_is_refused_and_the_process_goes_on() -> None:
    size = 1 << 44
    huge = np.broadcast_to(np.float32(1), (size,))
    with pytest.raises(MemoryError) as caught:
        buffers.put(huge, aval((size,)))
    assert isinstance(caught.value, errors.DeviceMemoryError)
    assert "f32[17592186044416]" in str(caught.value)
    assert buffers.get(buffers.put(np.float32(2)[()] + np.zeros((), "f4"), aval(())), aval(())) == 2


def test_what_jaxlib_says_of_memory_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: None)  # as where the system does not tell
    size = 1 << 44
    huge = np.broadcast_to(np.float32(1), (size,))
    with pytest.raises(errors.DeviceMemoryError, match="RESOURCE_EXHAUSTED"):
        buffers.put(huge, aval((size,)))
