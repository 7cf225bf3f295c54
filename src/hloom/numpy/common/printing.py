"""Arrays as text.  Precision, line width and the like are NumPy's options: one setting for both."""

from __future__ import annotations

from typing import Any

import numpy as np

from hloom.core.array import text_of
from hloom.numpy.common.operands import array_like

get_printoptions = np.get_printoptions
printoptions = np.printoptions
set_printoptions = np.set_printoptions


def array_repr(
    arr: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """What `repr(x)` says, with options for once.

    >>> jnp.array_repr(jnp.array([1 / 3]), precision=2)
    'Array([0.33], dtype=float32)'
    """
    options = {
        "max_line_width": max_line_width,
        "precision": precision,
        "suppress_small": suppress_small,
    }
    return text_of(array_like("array_repr", arr), **options)


def array_str(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """What `str(x)` says, with options for once.

    >>> jnp.array_str(jnp.array([1 / 3]), precision=2)
    '[0.33]'
    """
    value = np.asarray(array_like("array_str", a))
    return np.array_str(value, max_line_width, precision, suppress_small)


def array2string(a: Any, *args: Any, **kwargs: Any) -> str:
    """The elements as text, with NumPy's options.

    >>> jnp.array2string(jnp.arange(3), separator=", ")
    '[0, 1, 2]'
    """
    return np.array2string(np.asarray(array_like("array2string", a)), *args, **kwargs)
