"""Choice between arrays, element by element: where, select, choose, piecewise, clip."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from hloom import dtypes, errors
from hloom.core.array import Array
from hloom.core.context import current
from hloom.core.support.known import known
from hloom.core.trace import Tracer
from hloom.numpy.common import eager
from hloom.numpy.common.operands import array_like, broadcast, promote, promote_dtypes
from hloom.numpy.common.python_integers import CASES, fit
from hloom.numpy.common.ufunc_operands import kind_of
from hloom.numpy.indexing.nonzero import nonzero
from hloom.numpy.pointwise.comparison import truth
from hloom.ops.common import linear
from hloom.ops.pointwise import binary, compare, unary
from hloom.ops.pointwise.convert import convert_element_type_p, stop_gradient
from hloom.ops.shapes.slicing import unstack

get = current.get
INT32 = np.dtype("int32")


# ---- where -------------------------------------------------------------------------------------
def _fitted(name: str, operands: Sequence[Any]) -> Sequence[Any]:
    """Operands that are promoted together, Python integers checked; as arrays, but for a trace."""
    if get().key is None:
        return operands
    return [array_like(name, x, i) for i, x in enumerate(fit(name, operands))]


def _where(condition: Any, x: Any, y: Any, /) -> Any:
    x, y = promote_dtypes("where", x, y)
    return compare.select(*broadcast("where", (truth("where", condition), x, y), True))


_choice = eager.ternary(_where, general=partial(eager.run, fitting=CASES))


def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
    /,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """`x` where the condition holds, else `y`; with neither, the places where it holds.

    All three broadcast; `x` and `y` are promoted; a condition that is not bool holds where it is
    not 0.  Without `x` and `y` this is `nonzero`, which `size` and `fill_value` are for.  Raises
    ValueError if just one of `x` and `y` is given.

    The derivative of the case that was not chosen is 0 times its own: where that is infinite, as of
    sqrt at 0, the product is NaN.  Choose a harmless operand first:
    `where(x > 0, sqrt(where(x > 0, x, 1)), 0)`.

    >>> jnp.where(jnp.array([True, False, True]), jnp.array([1.0, 2.0, 3.0]), 0.5)
    Array([1. , 0.5, 3. ], dtype=float32)
    >>> jnp.where(jnp.array([True, False, True]))
    (Array([0, 2], dtype=int32),)
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise ValueError(
            "where: either both or neither of x and y should be given; y is the value where the "
            "condition does not hold: jnp.where(condition, x, 0)"
        )
    if size is not None or fill_value is not None:
        raise ValueError("where takes size and fill_value only without x and y")
    return _choice(condition, x, y)


# ---- clip --------------------------------------------------------------------------------------
@eager.ternary
def _clip(x: Any, low: Any, high: Any, /) -> Any:
    x, low, high = promote("clip", x, low, high)
    return binary.min(binary.max(x, low), high)


@eager.binary
def _clip_below(x: Any, low: Any, /) -> Any:
    return binary.max(*promote("clip", x, low))


@eager.binary
def _clip_above(x: Any, high: Any, /) -> Any:
    return binary.min(*promote("clip", x, high))


def clip(
    arr: Any = None,
    /,
    min: Any = None,
    max: Any = None,
    out: Any = None,
    *,
    a: Any = None,
    a_min: Any = None,
    a_max: Any = None,
) -> Any:
    """The array held between `min` and `max`, either of which may be None; NaN stays.

    All broadcast and are promoted; where the bounds cross, `max` wins.  A Python integer beyond the
    range of an integer array binds nothing.  `a`, `a_min` and `a_max` are NumPy's older names.
    Raises ValueError if there is no array.  The derivative is 1 between the bounds and 0 beyond.

    >>> jnp.clip(jnp.array([-1.0, 0.5, 2.0]), 0, 1)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    eager.refuse("clip", out, None)
    x = a if arr is None else arr
    if x is None:
        raise ValueError("clip needs an array: jnp.clip(x, min, max)")
    low = a_min if min is None else min
    high = a_max if max is None else max
    if low.__class__ is int or high.__class__ is int:
        low, high = _binding(x, low, high)
    if low is None and high is None:
        return array_like("clip", x)
    if high is None:
        return _clip_below(x, low)
    return _clip_above(x, high) if low is None else _clip(x, low, high)


def _binding(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds, with None for Python integers that bind no value of an integer array."""
    if x.__class__ is Array or not isinstance(x, (int, float, complex)):
        dtype = array_like("clip", x).aval.dtype
        if dtype in dtypes.DOMAINS["integer"]:
            limits = dtypes.iinfo(dtype)
            if low.__class__ is int and low <= limits.min:
                low = None
            if high.__class__ is int and high >= limits.max:
                high = None
    return low, high


# ---- select, choose ----------------------------------------------------------------------------
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """The element of the first choice whose condition holds, or `default` where none does.

    `condlist` and `choicelist` are sequences of arrays; all broadcast, the choices and the default
    are promoted.  Raises ValueError unless there are as many choices as conditions and at least
    one, TypeError for a condition that is not bool.

    >>> x = jnp.arange(6)
    >>> jnp.select([x < 2, x > 3], [x, x**2], default=-1)
    Array([ 0,  1, -1, -1, 16, 25], dtype=int32)
    """
    condlist, choicelist = list(condlist), list(choicelist)
    if len(condlist) != len(choicelist):
        raise ValueError(
            "list of cases must be same length as list of conditions; "
            f"got {len(choicelist)} cases and {len(condlist)} conditions"
        )
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    condlist = [array_like("select", condition) for condition in condlist]
    for i, condition in enumerate(condlist):
        if kind_of(condition) != "bool":
            raise TypeError(
                f"invalid entry {i} in condlist: should be boolean ndarray; got {condition.aval}. "
                f"Compare it: condlist[{i}] != 0."
            )
    *choicelist, default = _fitted("select", [*choicelist, default])
    return _select(condlist, choicelist, default)


@eager.function(static=(), sequences=("condlist", "choicelist"))
def _select(condlist: Any, choicelist: Any, default: Any) -> Any:
    *choicelist, result = promote_dtypes("select", *choicelist, default)
    count = len(condlist)
    arrays = broadcast("select", [*condlist, *choicelist, result], True)
    conditions, choices, result = arrays[:count], arrays[count:-1], arrays[-1]
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        result = compare.select(condition, choice, result)
    return result


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """The element of `choices[i]`, where `i` is the element of `a`.

    `a` is an integer array, `choices` a sequence of arrays, or an array whose first axis numbers
    them; all broadcast, the choices are promoted.  For integers out of range, `mode="wrap"` takes
    the remainder, `"clip"` the nearest choice, and `"raise"` raises ValueError, for which the
    values must be known: while tracing it raises ConcretizationTypeError.

    >>> jnp.choose(jnp.array([0, 2, 1]), jnp.array([[1, 2, 3], [10, 20, 30], [100, 200, 300]]))
    Array([  1, 200,  30], dtype=int32)
    """
    eager.refuse("choose", out, None)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"choose: mode is 'raise', 'wrap' or 'clip'; got {mode!r}")
    a = array_like("choose", a)
    if kind_of(a) not in ("bool", "signed", "unsigned"):
        raise TypeError(f"choose numbers the choices by integers; got {a.aval}: a.astype(int)")
    if isinstance(choices, (list, tuple)):
        choices = _fitted("choose", choices)
    else:
        choices = unstack(array_like("choose", choices))
    if mode == "raise":
        _check_choices(a, len(choices))
    return _choose(a, list(choices), mode=mode)


def _check_choices(a: Any, count: int) -> None:
    numbers = known(a)
    if numbers is None:
        raise errors.ConcretizationTypeError.parameter("choose(mode='raise')", "a", a.traced())
    if np.any((numbers < 0) | (numbers >= count)):
        raise ValueError(
            f"invalid entry in choice array: there are {count} choices; "
            "mode='clip' or mode='wrap' takes any integer"
        )


@eager.function(static=("mode",), sequences=("choices",))
def _choose(a: Any, choices: Any, *, mode: str) -> Any:
    if not choices:
        raise ValueError("choose needs at least one choice")
    last = len(choices) - 1
    which = convert_element_type_p(a, new_dtype=INT32, weak_type=False)
    if mode == "wrap":
        which = binary.mod(which, last + 1)
    else:
        which = compare.clamp(0, which, last)
    which, *choices = broadcast("choose", [which, *promote_dtypes("choose", *choices)], True)
    return compare.select_n(which, *choices)


# ---- piecewise ---------------------------------------------------------------------------------
def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """A function with a definition for each condition: the last one that holds, as in NumPy.

    `condlist` is a sequence of bool arrays, or one; `funclist` has a number or a function of arrays
    for each, and perhaps one more for where none holds, which is 0 otherwise.  `args` and `kw` are
    passed to the functions.  The result has the dtype of `x`.  Raises ValueError for a wrong number
    of functions.  Differs from NumPy: each function is called once, with all of `x`.

    >>> x = jnp.array([-2.0, 0.5, 3.0])
    >>> jnp.piecewise(x, [x < 0, x > 1], [lambda x: -x, 1.0, 0.5])
    Array([2. , 0.5, 1. ], dtype=float32)
    """
    x = array_like("piecewise", x)
    functions = list(funclist)
    conditions = _conditions(x, condlist, len(functions))
    count = len(conditions)
    if len(functions) == count + 1:
        functions.insert(0, functions.pop())
        conditions.insert(0, truth("piecewise", True))
    elif len(functions) != count:
        raise ValueError(
            f"with {count} condition(s), either {count} or {count + 1} functions are expected; "
            f"got {len(functions)}"
        )
    given = _own_elements(x, conditions) if isinstance(x, Tracer) else [x] * len(functions)
    values = [f(x, *args, **kw) if callable(f) else f for f, x in zip(functions, given)]
    fit("piecewise", [x, *values])
    return _overwrite(x, conditions, values)


def _conditions(x: Array, condlist: Any, functions: int) -> list[Any]:
    """A list of conditions; one alone, as an array or a list of bools, counts as a list of it.

    Bools are one condition for each where there are as many functions, three or more.
    """
    if isinstance(condlist, (list, tuple)):
        first = condlist[0] if condlist else None
        each = functions > 2 and functions - len(condlist) in (0, 1)
        if isinstance(first, (list, tuple, Array, np.ndarray)) or not x.aval.shape or each:
            return [truth("piecewise", c) for c in condlist]
        return [truth("piecewise", condlist)]
    condition = truth("piecewise", condlist)
    if condition.aval.ndim > x.aval.ndim:
        return list(unstack(condition))
    return [condition]


def _own_elements(x: Array, conditions: Sequence[Any]) -> list[Any]:
    """`x` for each definition; to elements that another one gives no derivative flows back, which
    would be NaN where the definition's own is infinite."""
    held, others, given = stop_gradient(x), None, []
    for condition in reversed(conditions):
        own, _ = broadcast("piecewise", (condition, x))
        if others is not None:
            own = binary.bitwise_and(own, unary.bitwise_not(others))
        others = own if others is None else binary.bitwise_or(own, others)
        given.append(compare.select(own, x, held))
    return given[::-1]


@eager.function(static=(), sequences=("conditions", "values"))
def _overwrite(x: Any, conditions: Any, values: Any) -> Any:
    result = linear.full(x.aval.shape, 0, x.aval.dtype)
    for condition, value in zip(conditions, values):
        value = convert_element_type_p(value, new_dtype=x.aval.dtype, weak_type=False)
        result = compare.select(*broadcast("piecewise", (condition, value, result), True))
    return result
