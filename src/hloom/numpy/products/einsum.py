"""einsum: a sum of products written as labels of axes.

A formula becomes a `Formula` (labels for each operand and for the result), which is static; the
operands are contracted two at a time, in an order that opt_einsum finds from their shapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from hloom.core.array import Array
from hloom.core.support.lazy import LazyModule
from hloom.core.support.strict import refuse_sharding
from hloom.errors import ShapeError
from hloom.numpy.common import eager
from hloom.numpy.common.arguments import dtype_argument, refuse_out
from hloom.numpy.common.operands import array_like, promote_dtypes
from hloom.numpy.indexing.index_arrays import diagonals
from hloom.numpy.products.contraction import contract, total
from hloom.ops.common.linear import transpose
from hloom.ops.pointwise.convert import convert_element_type

opt_einsum = LazyModule("opt_einsum")  # 4.5 ms of import, which most processes don't need

Term = tuple[Hashable, ...]
Path = tuple[tuple[int, ...], ...]


class Formula(NamedTuple):
    """Labels of each operand's axes and of the result's; axes under an ellipsis are `(..., i)`,
    counted from the last."""

    terms: tuple[Term, ...]
    out: Term

    def __str__(self) -> str:
        return ",".join(map(_spelled, self.terms)) + "->" + _spelled(self.out)


def _spelled(term: Term) -> str:
    letters = ["..." if isinstance(label, tuple) else str(label) for label in term]
    return "".join(x for i, x in enumerate(letters) if x != "..." or "..." not in letters[:i])


# ---- reading a formula --------------------------------------------------------------------------
@lru_cache(maxsize=1024)
def parse(subscripts: str, ndims: tuple[int, ...]) -> Formula:
    """The formula that a string writes, for operands with so many axes.

    Raises ValueError with NumPy's words.
    """
    text = subscripts.replace(" ", "")
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ndims):
        more = "more operands provided to einstein sum function than specified in the"
        fewer = "fewer operands provided to einstein sum function than specified in the"
        raise ShapeError(
            f"einsum: {more if len(terms) < len(ndims) else fewer} subscripts string: "
            f"{subscripts!r} is for {len(terms)}, got {len(ndims)}"
        )
    lists = [_labels(term, f"operand {i}") for i, term in enumerate(terms)]
    return formula(lists, _labels(result, "the output") if arrow else None, ndims)


def _labels(term: str, where: str) -> list[Any]:
    """Letters, and one Ellipsis at most."""
    before, dots, after = term.partition("...")
    for letter in before + after:
        if letter == "." or (dots and "." in after):
            raise ValueError(
                "einsum: einstein sum subscripts string contains a '.' that is not part of an "
                f"ellipsis ('...') in {where}: {term!r}"
            )
        if not letter.isalpha():
            raise ValueError(
                f"einsum: invalid subscript {letter!r} in einstein sum subscripts string, "
                f"subscripts must be letters: {term!r}"
            )
    return [*before, ...] + list(after) if dots else list(before)


def formula(lists: Sequence[list[Any]], out: list[Any] | None, ndims: Sequence[int]) -> Formula:
    """The formula of lists of labels, in which Ellipsis stands for the other axes.

    Without `out`, the result has the axes under ellipses, and then the labels that occur once, in
    order.
    """
    terms = [_expanded(labels, ndim, i) for i, (labels, ndim) in enumerate(zip(lists, ndims))]
    counts = Counter(label for term in terms for label in term)
    hidden = sorted((x for x in counts if isinstance(x, tuple)), key=lambda x: -x[1])
    if out is None:
        once = sorted(x for x, n in counts.items() if n == 1 and not isinstance(x, tuple))
        return Formula(tuple(terms), (*hidden, *once))
    named = [x for x in out if x is not ...]
    for label in named:
        if named.count(label) > 1:
            raise ValueError(
                f"einsum: einstein sum subscripts string includes output subscript {label!r} "
                "multiple times"
            )
        if label not in counts:
            raise ValueError(
                f"einsum: einstein sum subscripts string included output subscript {label!r} "
                "which never appeared in an input"
            )
    if hidden and ... not in out:
        raise ShapeError(
            "einsum: output has more dimensions than subscripts given in einstein sum, but no "
            "'...' ellipsis provided to broadcast the extra dimensions."
        )
    whole = [y for x in out for y in (hidden if x is ... else [x])]
    return Formula(tuple(terms), tuple(whole))


def _expanded(labels: list[Any], ndim: int, number: int) -> Term:
    """The labels of all axes of an operand."""
    named = len(labels) - (... in labels)
    if named > ndim:
        raise ShapeError(
            "einsum: einstein sum subscripts string contains too many subscripts for operand "
            f"{number}, which has {ndim} axes"
        )
    if ... not in labels and named < ndim:
        raise ShapeError(
            f"einsum: operand {number} has more dimensions, {ndim}, than subscripts given in "
            "einstein sum, but no '...' ellipsis provided to broadcast the extra dimensions."
        )
    hidden = [(..., i) for i in reversed(range(ndim - named))]
    return tuple([y for x in labels for y in (hidden if x is ... else [x])])


def _read(subscripts: Any, operands: Sequence[Any]) -> tuple[Formula, list[Array]]:
    """The formula and the operands, from either of NumPy's two ways to call einsum."""
    if isinstance(subscripts, str):
        arrays = [array_like("einsum", x, i + 1) for i, x in enumerate(operands)]
        return parse(subscripts, tuple([x.aval.ndim for x in arrays])), arrays
    items = [subscripts, *operands]
    out = list(items.pop()) if len(items) % 2 else None
    arrays = [array_like("einsum", x, 2 * i) for i, x in enumerate(items[::2])]
    if not arrays:
        raise ValueError("einsum takes a string of subscripts, or operands and lists of labels")
    lists = [list(labels) for labels in items[1::2]]
    return formula(lists, out, [x.aval.ndim for x in arrays]), arrays


# ---- einsum -------------------------------------------------------------------------------------
class Plan(NamedTuple):
    """What selects a program, beside the operands' types."""

    formula: Formula
    optimize: Any
    precision: Any
    preferred: Any
    dtype: Any


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    optimize: Any = "auto",
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: None = None,
) -> Array:
    """The sum of products that `subscripts` writes: labels of the operands' axes `->` the result's.

    Axes with the same label are multiplied together; labels missing from the result are summed; a
    label twice in one operand means its diagonal; `...` stands for further axes, which are
    broadcast.  Without `->` the result has the labels that occur once, in alphabetical order.
    Labels may also be given as lists: `einsum(x, [0, 1], y, [1, 2], [0, 2])`.

    `optimize` says in which order more than two operands are contracted: "auto", "greedy",
    "optimal", False (from the left), or a path from `einsum_path`.

    Raises ValueError for a formula that does not fit the operands.

    >>> jnp.einsum("ij,j->i", jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    >>> jnp.einsum("ii", jnp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    if out_sharding is not None:
        refuse_sharding("einsum", out_sharding)
    refuse_out("einsum", out)
    found, arrays = _read(subscripts, operands)
    wanted = None if dtype is None else dtype_argument("einsum", dtype)
    how = optimize
    if isinstance(optimize, (list, tuple)):
        how = tuple([tuple(step) for step in optimize if not isinstance(step, str)])
    return _einsum(arrays, Plan(found, how, precision, preferred_element_type, wanted))


@eager.planned_sequence
def _einsum(xs: Sequence[Any], plan: Plan) -> Any:
    if plan.dtype is None:
        arrays = promote_dtypes("einsum", *xs)
    else:
        arrays = [convert_element_type(x, plan.dtype) for x in xs]
    terms, out = plan.formula
    sizes = _sizes(plan.formula, arrays)
    counts = Counter(label for term in terms for label in {*term})
    pairs = []
    for x, term in zip(arrays, terms):
        x, labels = _without_twice(x, term)
        alone = {label for label in labels if counts[label] == 1 and label not in out}
        pairs.append(_summed(x, labels, alone))
    how = {"precision": plan.precision, "preferred": plan.preferred}
    for step in _path(plan.optimize, [labels for _, labels in pairs], out, sizes):
        chosen = [pairs[i] for i in sorted(step)]
        pairs = [pair for i, pair in enumerate(pairs) if i not in step]
        while len(chosen) > 1:
            later = {*out, *[label for _, labels in (*pairs, *chosen[2:]) for label in labels]}
            chosen[:2] = [_contracted(chosen[0], chosen[1], later, out, **how)]
        pairs += chosen
    ((x, labels),) = pairs
    x, labels = _summed(x, labels, {*labels} - {*out})
    if plan.preferred is not None:
        x = convert_element_type(x, plan.preferred)
    return transpose(x, [labels.index(label) for label in out])


def _sizes(formula: Formula, arrays: Sequence[Any]) -> dict[Hashable, int]:
    """The size of each label; raises ValueError where operands disagree."""
    found: dict[Hashable, tuple[int, int]] = {}
    for number, (x, term) in enumerate(zip(arrays, formula.terms)):
        own: dict[Hashable, int] = {}
        for label, n in zip(term, x.aval.shape):
            if own.setdefault(label, n) != n:
                raise ShapeError(
                    f"einsum {formula}: dimensions in operand {number}, {x.aval}, for collapsing "
                    f"index {label!r} don't match ({own[label]} != {n})"
                )
            size, first = found.get(label, (1, number))
            if 1 not in (size, n) and size != n:
                raise ShapeError(
                    f"einsum {formula}: operands could not be broadcast together: {_shown(label)} "
                    f"has size {size} in operand {first}, {arrays[first].aval}, and {n} in operand "
                    f"{number}, {x.aval}"
                )
            if label not in found or size == 1:
                found[label] = n, number
    return {label: n for label, (n, _) in found.items()}


def _shown(label: Any) -> str:
    return "an axis under '...'" if isinstance(label, tuple) else f"index {label!r}"


def _without_twice(x: Any, term: Term) -> tuple[Any, list[Hashable]]:
    """The diagonal over every label that the operand has more than once."""
    labels = list(term)
    for label in term:
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            rest = [k for k in range(len(labels)) if k not in (i, j)]
            x = diagonals(transpose(x, [*rest, i, j]), 0)
            labels = [*[labels[k] for k in rest], label]
    return x, labels


def _summed(x: Any, labels: Sequence[Hashable], gone: set[Hashable]) -> tuple[Any, list[Hashable]]:
    axes = [i for i, label in enumerate(labels) if label in gone]
    kept = [label for label in labels if label not in gone]
    return (total(x, axes) if axes else x), kept


def _contracted(first: Any, second: Any, later: set[Hashable], out: Term, **how: Any) -> Any:
    """Two operands made one, which keeps the labels that are needed later."""
    (x, left), (y, right) = first, second
    x, y = promote_dtypes("einsum", x, y)
    shared = [label for label in left if label in right and label in later]
    kept = [*shared, *[a for a in left if a not in right], *[a for a in right if a not in left]]
    kept = [label for label in kept if label in later]
    if {*kept} == {*out}:
        kept = list(out)  # the last one: its axes may come out in order
    return contract(x, left, y, right, kept, **how), kept


def _path(optimize: Any, labels: Sequence[Any], out: Term, sizes: dict[Hashable, int]) -> Path:
    """Which operands to contract, step by step; the result of each goes behind the others."""
    count = len(labels)
    if isinstance(optimize, tuple):
        return optimize
    if count < 3:
        return ((0, 1),) if count == 2 else ()
    if optimize is False:
        return ((0, 1),) + tuple([(0, count - 1 - i) for i in range(1, count - 1)])
    try:
        find = opt_einsum.paths.get_path_fn("auto" if optimize is True else optimize)
    except (KeyError, TypeError):
        raise ValueError(
            f"einsum: optimize is True, False, a path or one of opt_einsum's names ('auto', "
            f"'greedy', 'optimal', 'dp'); got {optimize!r:.60}"
        ) from None
    found = find([frozenset(x) for x in labels], frozenset(out), sizes, None)
    return tuple([tuple(step) for step in found])


def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "greedy") -> tuple[Any, Any]:
    """The order in which `einsum` would contract the operands, and a text with its cost.

    The order may be given to `einsum` as `optimize`.

    Raises ValueError for a formula that does not fit the operands.

    >>> x = jnp.ones((2, 2))
    >>> jnp.einsum_path("ij,jk,kl->il", x, x, x)[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    found, arrays = _read(subscripts, operands)
    _sizes(found, arrays)
    symbols: dict[Hashable, str] = {}
    for label in dict.fromkeys(x for term in found.terms for x in term):
        taken = {*symbols.values()}
        free = (s for s in map(opt_einsum.get_symbol, range(100_000)) if s not in taken)
        keep = isinstance(label, str) and label not in taken
        symbols[label] = label if keep else next(free)
    spelled = ["".join(symbols[x] for x in term) for term in (*found.terms, found.out)]
    text = ",".join(spelled[:-1]) + "->" + spelled[-1]
    how = "auto" if optimize is True else optimize
    if isinstance(optimize, (list, tuple)):
        how = [tuple(step) for step in optimize if not isinstance(step, str)]
    shapes = [x.aval.shape for x in arrays]
    path, info = opt_einsum.contract_path(text, *shapes, shapes=True, optimize=how)
    return ["einsum_path", *path], str(info)
