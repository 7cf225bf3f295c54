"""Promotion: the dtype that operands of several dtypes are brought to, and why.

Operands are (dtype, weak) pairs.  They are mapped to nodes of the lattice in
`hloom.dtypes.lattice`, joined there, and the node that results is mapped back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from hloom.dtypes.lattice import (
    MODES,
    NARROW_FLOATS,
    NARROW_INTEGERS,
    REASONS,
    STANDARD,
    WEAK_NAMES,
    departure,
)
from hloom.dtypes.table import (
    BOOL,
    BY_SHORT,
    COMPLEX128,
    FLOAT64,
    INT64,
    KINDS,
    PYTHON_SCALARS,
    Dtype,
    as_dtype,
    bits,
    canonicalize,
    kind,
    scalar_dtype,
    short_name,
)

#: A dtype, and whether it is weak.
Pair: TypeAlias = tuple[Dtype, bool]

_WEAK_NODES = {"unsigned": "i*", "signed": "i*", "float": "f*", "complex": "c*"}
_WEAK_DTYPES = {"i*": INT64, "f*": FLOAT64, "c*": COMPLEX128}

# (pairs, x64, mode) -> the result of `join`; bounded, though programs use few different pairs.
_joined: dict[tuple[object, bool, str], Pair] = {}


def join(
    pairs: Sequence[Pair], x64: bool = True, mode: str = "standard", who: str = "promotion"
) -> Pair:
    """The (dtype, weak) that operands of these (dtype, weak) pairs are promoted to.

    A weak pair represents a Python scalar: it gives its kind, and its width only if all are weak.
    `mode` is "standard" or "strict".  The order of the pairs does not matter.  A tuple of pairs
    that was joined before costs one look-up.

    Raises TypeError, which begins with `who`, where there is no such dtype, and ValueError if
    `pairs` is empty.

    >>> hloom.dtypes.join(((np.dtype("int8"), False), (np.dtype("float64"), True)), x64=False)
    (dtype('float32'), True)
    """
    try:
        return _joined[pairs, x64, mode]
    except (KeyError, TypeError):  # TypeError: a list is not hashable
        pairs = tuple(pairs)
    joined = _join(pairs, x64, mode, who)
    if len(_joined) >= 4096:
        _joined.clear()
    _joined[pairs, x64, mode] = joined
    return joined


def _join(pairs: Sequence[Pair], x64: bool, mode: str, who: str) -> Pair:
    if mode not in MODES:
        raise ValueError(f'the promotion mode is "standard" or "strict"; got {mode!r}')
    if not pairs:
        raise ValueError(f"{who} needs at least one array or dtype")
    distinct = list(dict.fromkeys(_canonical_pair(pair, x64) for pair in pairs))
    if len(distinct) == 1:
        return distinct[0]
    all_weak = all(weak for _, weak in distinct)
    if all_weak:
        node = STANDARD.join(short_name(dtype) for dtype, _ in distinct)
    else:
        node = MODES[mode].join(map(_node, distinct))
    if node is None:
        raise TypeError(f"{who}: {_no_common_dtype(distinct, x64, mode)}")
    if node in _WEAK_DTYPES:
        return canonicalize(_WEAK_DTYPES[node], x64), True
    return canonicalize(BY_SHORT[node], x64), all_weak


def _canonical_pair(pair: Pair, x64: bool) -> Pair:
    """A Python bool is not weak: there is one bool dtype, and nothing for it to yield to."""
    dtype = canonicalize(pair[0], x64)
    return dtype, bool(pair[1]) and dtype != BOOL


def _node(pair: Pair) -> str:
    dtype, weak = pair
    return _WEAK_NODES[kind(dtype)] if weak else short_name(dtype)


def _label(pair: Pair) -> str:
    """`int8`, or `Python int` for a weak one."""
    return WEAK_NAMES[_node(pair)] if pair[1] else pair[0].name


def _no_common_dtype(pairs: Sequence[Pair], x64: bool, mode: str) -> str:
    labels = list(map(_label, pairs))
    given = f"{', '.join(labels[:-1])} and {labels[-1]}"
    nodes = list(map(_node, pairs))
    way_out = f'convert one first, for example x.astype("{_wide_enough(pairs, x64).name}")'
    if mode == "strict" and STANDARD.join(nodes) is not None:
        return (
            f"{given} don't mix in strict mode, where a Python scalar adapts to arrays of its kind "
            f"or a higher one and nothing else adapts; {way_out}, or allow it: "
            "`with hloom.numpy_dtype_promotion('standard'):`"
        )
    small = "4- and 8-bit floats" if set(nodes) & set(NARROW_FLOATS) else "2- and 4-bit integers"
    return f"{given} have no common dtype, since {small} are not promoted implicitly; {way_out}"


def _wide_enough(pairs: Sequence[Pair], x64: bool) -> Dtype:
    """A dtype to suggest: the standard mode's, or one wide enough for the narrow dtypes here."""
    if STANDARD.join(map(_node, pairs)) is not None:
        return join(pairs, x64)[0]
    widest = max((dtype for dtype, weak in pairs if not weak), key=bits)
    if kind(widest) in ("float", "complex") and bits(widest) > 8:
        return widest
    wide = {"signed": "int8", "unsigned": "uint8", "float": "float32"}
    narrow = NARROW_FLOATS + NARROW_INTEGERS
    widened = [
        (as_dtype(wide[kind(dtype)]) if short_name(dtype) in narrow else dtype, weak)
        for dtype, weak in pairs
    ]
    return join(widened, x64)[0]


def pair_of(value: object, x64: bool = True) -> Pair:
    """The (dtype, weak) of an array, a Python scalar, or a dtype.

    Python's int, float and complex are weak, as values and as types; NumPy scalars are not.

    >>> hloom.dtypes.pair_of(2.5, x64=False), hloom.dtypes.pair_of(np.float32(2.5))
    ((dtype('float32'), True), (dtype('float32'), False))
    """
    scalar_type = value if isinstance(value, type) else type(value)
    if scalar_type in PYTHON_SCALARS:
        return canonicalize(PYTHON_SCALARS[scalar_type], x64), scalar_type is not bool
    if isinstance(value, (int, float, complex)) and not hasattr(value, "dtype"):
        return scalar_dtype(scalar_type, x64), True  # an enum member, say
    return canonicalize(value, x64), bool(getattr(value, "weak_type", False))


def result_type(*values: object, x64: bool = True, mode: str = "standard") -> Dtype:
    """The dtype that arrays, scalars and dtypes are promoted to together.

    >>> hloom.dtypes.result_type("int8", 1.5, x64=False)
    dtype('float32')
    """
    return join(tuple(pair_of(value, x64) for value in values), x64, mode, "result_type")[0]


def promote_types(a: object, b: object, x64: bool = True, mode: str = "standard") -> Dtype:
    """The dtype that an array of dtype `a` and one of dtype `b` are promoted to.

    Python's `int`, `float` and `complex` mean weak scalars.

    Raises TypeError for a pair without a common dtype, such as float8_e5m2 and float32.  Differs
    from NumPy where `DEPARTURES` says so, chiefly in that integers never widen a float.

    >>> hloom.dtypes.promote_types("int32", "float16"), hloom.dtypes.promote_types("int8", "uint8")
    (dtype('float16'), dtype('int16'))
    """
    return join((pair_of(a, x64), pair_of(b, x64)), x64, mode, "promote_types")[0]


def promotion_table(names: Iterable[str], x64: bool = True, mode: str = "standard") -> str:
    """The promotion of every two of `names` as text; `*` marks a weak result, `-` an error.

    "int", "float" and "complex" mean Python scalars.

    >>> print(hloom.dtypes.promotion_table(["int8", "uint8", "float16", "float"]))
          i8    u8    f16   f*
    i8    i8    i16   f16   f64*
    u8    i16   u8    f16   f64*
    f16   f16   f16   f16   f16
    f*    f64*  f64*  f16   f64*
    """
    scalars = {cls.__name__: cls for cls in (int, float, complex)}
    pairs = [pair_of(scalars.get(name, name), x64) for name in names]
    nodes = [_node(pair) for pair in pairs]
    rows = [["", *nodes]]
    rows += [[_node(a), *(_cell(a, b, x64, mode) for b in pairs)] for a in pairs]
    width = 2 + max(len(text) for row in rows for text in row)
    return "\n".join("".join(text.ljust(width) for text in row).rstrip() for row in rows)


def _cell(a: Pair, b: Pair, x64: bool, mode: str) -> str:
    try:
        dtype, weak = join((a, b), x64, mode)
    except TypeError:
        return "-"
    return short_name(dtype) + ("*" if weak else "")


# ---- why ------------------------------------------------------------------------------------


def explain(a: object, b: object, x64: bool = True, mode: str = "standard") -> str:
    """The way of two operands through the lattice: where they meet, why, and NumPy's answer.

    `a` and `b` are arrays, Python scalars or dtypes.  NumPy is named where it differs.

    >>> print(hloom.dtypes.explain("int32", "float16"))
    int32 + float16 -> float16
      int32    i32 > i64 > f* > f16
      float16  f16
    why: a float keeps its width beside integers of any size
    NumPy: float64. NumPy widens the float until it holds the integers; hloom leaves the width to you
    """  # noqa: E501  # real output
    pairs = pair_of(a, x64), pair_of(b, x64)
    title = " + ".join(map(_label, pairs))
    try:
        dtype, weak = join(pairs, x64, mode)
    except TypeError:
        why = f"why: {_no_common_dtype(pairs, x64, mode)}"
        return "\n".join([f"{title} -> TypeError", *_ways(pairs, None, mode), why])
    top = MODES[mode].join(map(_node, pairs)) or short_name(dtype)
    lines = [f"{title} -> {dtype.name}{' (weak)' if weak else ''}", *_ways(pairs, top, mode)]
    lines.append(f"why: {_reason(pairs, (dtype, weak))}")
    wide = _WEAK_DTYPES.get(top) or BY_SHORT[top]
    if canonicalize(wide, x64) != wide:
        lines.append(f"64-bit types are off: {wide.name} is {dtype.name}")
    return "\n".join(lines + _numpy_line(pairs, dtype, x64))


def _ways(pairs: tuple[Pair, Pair], top: str | None, mode: str) -> list[str]:
    """One line for each operand: its way to `top`, or up to where its arrows end."""
    lattice = MODES[mode]
    width = max(len(_label(pair)) for pair in pairs)
    lines = []
    for pair in pairs:
        start = _node(pair)
        way = lattice.path(start, top) if top else lattice.chain(start)
        end = " (nothing above it)" if top is None and len(way) == 1 else ""
        lines.append(f"  {_label(pair).ljust(width)}  {' > '.join(way)}{end}")
    return lines


def _reason(pairs: tuple[Pair, Pair], joined: Pair) -> str:
    (a, a_weak), (b, b_weak) = pairs
    if pairs[0] == pairs[1]:
        return "the two are the same"
    if a_weak and b_weak:
        return "both are Python scalars, and so is the result, of the higher kind"
    if a_weak or b_weak:
        strong = b if a_weak else a
        if joined[1]:
            return "the array is of a lower kind, so the result has the scalar's default dtype"
        if joined[0] == strong:
            return "a Python scalar takes the dtype of the array beside it"
        return "a Python complex makes the array's dtype complex, of the same width if there is one"
    if joined[1]:
        return "no integer dtype holds both, so it is a float, weak since it was not asked for"
    first, second = sorted((kind(a), kind(b)), key=list(KINDS).index)
    if first == "bool":
        return "False and True are 0 and 1 in every dtype"
    return REASONS[first, second]


def _numpy_line(pairs: tuple[Pair, Pair], dtype: Dtype, x64: bool) -> list[str]:
    """What NumPy gives, if that is something else."""
    values = {"i*": 0, "f*": 0.0, "c*": 0j}
    given = [values[_node(pair)] if pair[1] else pair[0] for pair in pairs]
    departs = departure(pairs[0][0].name, pairs[1][0].name)
    why = f". {departs.why}" if departs else ""
    if pairs[0][1] or pairs[1][1]:
        why = ". In hloom a Python scalar never widens an array"
    try:
        answer = np.result_type(*given)
    except TypeError:
        return [f"NumPy: TypeError{why}"]
    return [] if canonicalize(answer, x64) == dtype else [f"NumPy: {answer.name}{why}"]
