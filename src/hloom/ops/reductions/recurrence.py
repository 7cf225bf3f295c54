"""The linear recurrence y[i] = a[i] y[i-1] + b[i], the form of derivatives of running products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.primitive import Primitive, is_linear
from hloom.ops.common.elementwise import check_domain, check_same_dtype, is_narrow
from hloom.ops.common.linear import batch_first, full, plus
from hloom.ops.pointwise.arithmetic import add, mul
from hloom.ops.reductions.running_totals import AlongAxis, running
from hloom.ops.shapes.slicing import cut, joined


def previous(x: Any, first: Any, p: AlongAxis) -> Any:
    """The element before each one, and before the first `first`; the one after, if `reverse`."""
    shape, axis = list(x.aval.shape), p.axis
    size, shape[axis] = shape[axis], min(shape[axis], 1)
    end = full(tuple(shape), first, x.aval.dtype)
    if p.reverse:
        return joined([cut(x, 1 if size else 0, size, axis), end], axis)
    return joined([end, cut(x, 0, max(size - 1, 0), axis)], axis)


def _step(total: Any, a: Any, b: Any) -> Any:
    return add(mul(a, total), b)


class LinearRecurrence(Primitive):
    """f32[2,3] f32[2,3] -- axis=1, reverse=False --> f32[2,3].  y[i] = a[i] y[i-1] + b[i].

    The first y is the first b, whatever the first a.  `reverse` starts from the end.  Narrow floats
    are computed in f32.
    """

    parameters = AlongAxis

    def infer(self, a: ShapedArray, b: ShapedArray, p: AlongAxis) -> ShapedArray:
        check_domain(self.name, [a, b], "inexact")
        check_same_dtype(self.name, [a, b])
        if a.shape != b.shape:
            raise TypeError(f"{self.name} takes operands of one shape; got {a} and {b}")
        if not 0 <= p.axis < b.ndim:
            raise ValueError(f"{self.name}: {b} has no axis {p.axis}")
        return ShapedArray(b.shape, b.dtype, a.weak_type and b.weak_type)

    def numpy(self, a: Any, b: Any, p: AlongAxis) -> Any:
        wide = np.dtype(np.float32) if is_narrow(b.dtype) else b.dtype
        a, b = [np.moveaxis(np.flip(x, p.axis) if p.reverse else x, p.axis, 0) for x in (a, b)]
        out = b.astype(wide)
        with np.errstate(all="ignore"):
            for i in range(1, len(out)):
                out[i] += a[i].astype(wide) * out[i - 1]
        out = np.moveaxis(out, 0, p.axis).astype(b.dtype, copy=False)
        return np.flip(out, p.axis) if p.reverse else out

    def emit(self, block: Any, out: ShapedArray, a: Any, b: Any, p: AlongAxis) -> Any:
        wide = np.dtype(np.float32) if is_narrow(out.dtype) else out.dtype
        operands = [block.convert(x, wide) for x in (a, b)]
        found = running(block, operands, p, _step, unroll=4)
        return block.convert(found, out.dtype)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], p: AlongAxis) -> tuple[Any, Any]:
        (a, b), (da, db) = primals, tangents
        y = self(a, b, **p._asdict())
        if da is not None:
            db = plus(db, mul(da, previous(y, 0, p)))
        return y, self(a, db, **p._asdict())

    def transpose(self, ct: Any, a: Any, b: Any, p: AlongAxis) -> list[Any]:
        if is_linear(a):
            raise NotImplementedError(f"{self.name} is linear in b only")
        p = p._replace(reverse=not p.reverse)
        return [None, self(previous(a, 0, p), ct, **p._asdict())]

    def batch(
        self, size: int, operands: Sequence[Any], batch_axes: Sequence[Any], p: AlongAxis
    ) -> tuple[Any, int]:
        a, b = batch_first(size, operands, batch_axes)
        return self(a, b, axis=p.axis + 1, reverse=p.reverse), 0


linear_recurrence_p = LinearRecurrence("linear_recurrence")
