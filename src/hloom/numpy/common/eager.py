"""One eager NumPy call is one executable: the decorators that make it so.

A function of this layer is written once, in lax, for traced values.  Called eagerly, it is looked
up by what it depends on (the arguments' types and the static values); a hit runs an executable, a
miss records the whole function, compiles it and stores it.  Under a trace the function is simply
inlined.

`unary`, `binary` and `reduction` are for the commonest arities and cost about half a microsecond;
`function` takes any signature and costs about two.  The budget and what each choice was worth:
every attribute or call added to the first three shows in `make bench`.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import partial, update_wrapper, wraps
from math import copysign
from typing import Any

import numpy as np

from hloom import dtypes, errors, tree
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import Config, current
from hloom.core.operands import as_array, from_numpy, weak_aval
from hloom.core.record import trace_to_jaxpr
from hloom.core.support import executable, results, source
from hloom.core.support.calls import retold, unknown_keyword
from hloom.core.support.frames import hidden, hide
from hloom.core.support.tables import Tables
from hloom.core.support.width import holds_wide, keeps_width, wide
from hloom.core.trace import Origin, Tracer
from hloom.numpy.common.arguments import refuse_data, refuse_out
from hloom.numpy.common.operands import array_like
from hloom.numpy.common.python_integers import FLOATS, PROMOTED, Fitting, is_large

LEAF = tree.structure(0)  # the structure of one array
get = current.get


# ---- scalars: their buffers are put once --------------------------------------------------------
class Scalars(dict[Any, tuple[ShapedArray, Any]]):
    """Python or NumPy scalars of one class: value -> (aval, buffer).

    Zeros are kept by sign (0.0 == -0.0) and NaN, which no key equals, not at all.  Integers beyond
    0..127, which not every dtype holds, have an aval of their own, `large`: the general way, which
    checks that they fit, lets it find executables for dtypes that hold all of them.
    """

    CAPACITY = 256  # 4096, filled between results, slowed executables with many results for good

    def __init__(self, cls: type, x64: bool):
        super().__init__()
        self.cls = cls
        self.aval = weak_aval(cls, x64) if cls in (bool, int, float) else None
        if cls is int:
            self.limits = dtypes.iinfo(weak_aval(int, x64).dtype)
            self.large = ShapedArray._make((), self.limits.dtype, True)  # equal to no other
        self.zeros: dict[float, tuple[ShapedArray, Any]] = {}

    def __missing__(self, value: Any) -> tuple[ShapedArray, Any]:
        if self.cls is complex:
            raise KeyError(value)
        if not value and self.cls is not int and self.cls is not bool:
            sign = copysign(1.0, value)
            if sign not in self.zeros:
                self.zeros[sign] = self.make(value)
            return self.zeros[sign]
        made = self.make(value)
        if value == value:
            if len(self) >= self.CAPACITY:
                self.clear()
            self[value] = made
        return made

    def make(self, value: Any) -> tuple[ShapedArray, Any]:
        aval = self.aval
        if aval is None:
            made = as_array(value)
            return made.aval, made._buf
        if self.cls is int and not 0 <= value <= 127:
            if not self.limits.min <= value <= self.limits.max:
                raise KeyError(value)
            return self.large, executable.put(np.array(value, aval.dtype), aval)
        return aval, executable.put(np.array(value, aval.dtype), aval)


_SCALAR_CLASSES = (bool, int, float, complex, np.float32, np.float64, np.bool_)


class Puts:
    """NumPy arrays beside arrays: each is put on the device."""

    def __init__(self, x64: bool):
        self.x64 = x64

    def __getitem__(self, value: np.ndarray[Any, Any]) -> tuple[ShapedArray, Any]:
        made = from_numpy(value, self.x64)
        return made.aval, made._buf


class Operands(dict[Any, Any]):
    """For each configuration, the `Scalars` of each class; while tracing (None) nothing."""

    def __missing__(self, key: Config | None) -> dict[type, Scalars | Puts]:
        if key is None:
            return {}
        made: dict[type, Any] = {cls: Scalars(cls, key.enable_x64) for cls in _SCALAR_CLASSES}
        made[np.ndarray] = Puts(key.enable_x64)
        return self.setdefault(key, made)


OPERANDS = Operands()


# ---- executables --------------------------------------------------------------------------------
# What a table holds: a function from the operands' buffers to what the NumPy function returns.
Run = Callable[[list[Any]], Any]


def build(
    body: Callable[..., Any],
    avals: Sequence[ShapedArray],
    name: str,
    store: Callable[[Run], Any],
) -> Any:
    """Record the function for these types, compile it at the fast tier, and store how it is run."""
    out_tree: Any = None

    def flat(*xs: Any) -> list[Any]:
        nonlocal out_tree
        leaves, out_tree = tree.flatten(body(*xs))
        return [as_array(x) for x in leaves]

    jaxpr, captured = trace_to_jaxpr(flat, avals, Origin(name))
    for x in captured:
        if isinstance(x, Tracer):
            raise x.leaked()
    held = [x._buf for x in captured]

    compiled = executable.compile_jaxpr(jaxpr, get().config, name=name, tier="fast")
    if out_tree == LEAF:
        return store(results.one(compiled, held))
    run = results.many(compiled, held)
    return store(lambda buffers: tree.unflatten(out_tree, run(buffers)))


def run(
    body: Callable[..., Any],
    tables: Tables,
    name: str,
    operands: Sequence[Any],
    statics: tuple[Any, ...] = (),
    *,
    fitting: Fitting = PROMOTED,
) -> Any:
    """The general way for a fixed list of array operands; the body sees arrays or tracers.

    It keeps the operands' width: the functions of `unary`, `binary` and `reduction` are public as
    they are, with their fast path before this.
    """
    if holds_wide(operands) and not get().config.enable_x64:
        with wide():
            return run(body, tables, name, operands, statics, fitting=fitting)
    context = get()
    if context.key is None:
        return body(*operands)
    try:
        fitted = fitting.fit(name, operands)
        arrays = [array_like(name, x, i) for i, x in enumerate(fitted)]
        avals = [x.aval for x in arrays]
        buffers = [x._buf for x in arrays]  # a leaked tracer says so here
        table = tables[context.key]
        key = avals[0] if len(avals) == 1 and not statics else (*avals, *statics)
        found = table.get(key)
        if found is None:
            found = build(body, avals, name, lambda run: table.store(key, run))  # type: ignore[attr-defined]
        if len(operands) > 1 and any(map(is_large, fitted)) and fitting.holds(operands):
            _let_find(table, key, operands)
        return finish(found, buffers, name, arrays)
    except Exception as error:
        hide(error)
        raise


def _let_find(table: Any, key: Any, operands: Sequence[Any]) -> None:
    """Index the executable under the large-integer key too: every default integer fits here."""
    scalars = OPERANDS[get().key]
    try:
        avals = [x.aval if x.__class__ is Array else scalars[x.__class__][x][0] for x in operands]
    except KeyError:
        return
    table.alias(key, tuple(avals))


def finish(run: Run, buffers: list[Any], name: str, arrays: Sequence[Array]) -> Any:
    """Run an executable; a failure is explained."""
    try:
        return run(buffers)
    except RuntimeError as error:
        raise executable.explain(error, name, arrays) from None


@hidden
def refuse(name: str, out: Any, where: Any, fun: Any = None, wrong: Any = None) -> None:
    """Raise TypeError for the arguments of NumPy's ufuncs that an immutable array can't serve."""
    if wrong:
        raise unknown_keyword(fun, name, wrong)
    refuse_out(name, out, nests=fun is not None and fun.__code__.co_argcount == 2)
    if where is not None and where is not True:
        raise TypeError(
            f"{name} computes every element and takes no `where`; choose afterwards: "
            f"hloom.numpy.where(mask, {name}(...), x)"
        )


# ---- decorators ---------------------------------------------------------------------------------
def unary(fun: Callable[[Any], Any]) -> Callable[..., Any]:
    """Decorate a function of one array."""
    tables = Tables()
    name = fun.__name__.strip("_")

    @wraps(fun)
    def call(x: Any, /, out: Any = None, where: Any = None, **wrong: Any) -> Any:
        if x.__class__ is Array and out is None is where and not wrong:
            try:
                return tables[get().key][x.aval]([x._buf])
            except (KeyError, RuntimeError):
                pass  # unknown yet, or failing: the general way says why
        refuse(name, out, where, fun, wrong)
        return run(fun, tables, name, (x,))

    call.is_public = True  # type: ignore[attr-defined]
    return call


def binary(fun: Callable[[Any, Any], Any], general: Callable[..., Any] = run) -> Callable[..., Any]:
    """Decorate a function of two arrays; `call.tables` are shared with the operator.

    `general` answers what the tables can't; some functions look at Python scalars first.
    """
    tables = Tables()
    name = fun.__name__.strip("_")
    inlines = general is run  # a trace then needs nothing but the function
    if not inlines:
        general = keeps_width(general)

    @wraps(fun)
    def call(x1: Any, x2: Any, /, out: Any = None, where: Any = None, **wrong: Any) -> Any:
        try:
            key = get().key
            if x1.__class__ is Array and out is None is where and not wrong:
                if x2.__class__ is Array:
                    return tables[key][x1.aval, x2.aval]([x1._buf, x2._buf])
                aval, buf = OPERANDS[key][x2.__class__][x2]
                return tables[key][x1.aval, aval]([x1._buf, buf])
        except (KeyError, RuntimeError, TypeError, ValueError, OverflowError):
            pass
        refuse(name, out, where, fun, wrong)
        return general(fun, tables, name, (x1, x2))

    call.is_public = True  # type: ignore[attr-defined]
    call.tables = tables  # type: ignore[attr-defined]
    call.general = general  # type: ignore[attr-defined]
    call.inlines = inlines  # type: ignore[attr-defined]
    return call


binary_floats = partial(binary, general=partial(run, fitting=FLOATS))


def ternary(
    fun: Callable[[Any, Any, Any], Any], general: Callable[..., Any] = run
) -> Callable[..., Any]:
    """Decorate a function of three arrays; the last two may be Python scalars on the fast path."""
    tables = Tables()
    name = fun.__name__.strip("_")

    @wraps(fun)
    def call(x1: Any, x2: Any, x3: Any, /) -> Any:
        try:
            key = get().key
            scalars = OPERANDS[key]
            if x1.__class__ is Array:
                aval2, buf2 = (
                    (x2.aval, x2._buf) if x2.__class__ is Array else scalars[x2.__class__][x2]
                )
                aval3, buf3 = (
                    (x3.aval, x3._buf) if x3.__class__ is Array else scalars[x3.__class__][x3]
                )
                return tables[key][x1.aval, aval2, aval3]([x1._buf, buf2, buf3])
        except (KeyError, RuntimeError, TypeError, ValueError, OverflowError):
            pass
        return general(fun, tables, name, (x1, x2, x3))

    return call


def not_ours(self: Any, other: Any) -> Any:
    """What an operator answers to an operand that it does not know: ask the other one."""
    return NotImplemented


def operators(
    function: Callable[..., Any], stranger: Callable[[Any, Any], Any] = not_ours
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The operator and the reflected operator of a function decorated by `binary`.

    `stranger` answers where the other operand is no array and no number.
    """
    tables: Tables = function.tables  # type: ignore[attr-defined]
    general: Callable[..., Any] = function.general  # type: ignore[attr-defined]
    inlines: bool = function.inlines  # type: ignore[attr-defined]
    fun: Callable[..., Any] = function.__wrapped__  # type: ignore[attr-defined]
    name = fun.__name__.strip("_")

    def forward(self: Any, other: Any) -> Any:
        key = get().key
        if key is not None:
            try:
                if other.__class__ is Array:
                    return tables[key][self.aval, other.aval]([self._buf, other._buf])
                aval, buf = OPERANDS[key][other.__class__][other]
                return tables[key][self.aval, aval]([self._buf, buf])
            except (KeyError, RuntimeError, TypeError, ValueError, OverflowError):
                pass
        if key is None and inlines and not self.aval.is_wide and inlined(other):
            return fun(self, other)
        if not is_operand(other):
            return stranger(self, other)
        return general(fun, tables, name, (self, other))

    def reflected(self: Any, other: Any) -> Any:
        key = get().key
        if key is not None:
            try:
                aval, buf = OPERANDS[key][other.__class__][other]
                return tables[key][aval, self.aval]([buf, self._buf])
            except (KeyError, RuntimeError, TypeError, ValueError, OverflowError):
                pass
        if key is None and inlines and not self.aval.is_wide and inlined(other):
            return fun(other, self)
        if not is_operand(other):
            return stranger(self, other)
        return general(fun, tables, name, (other, self))

    forward.is_public = reflected.is_public = True  # type: ignore[attr-defined]
    return forward, reflected


def inlined(other: Any) -> bool:
    """Whether an operand under a trace needs nothing but the function: what all but few are."""
    if isinstance(other, Array):
        return not other.aval.is_wide
    return other.__class__ is float or other.__class__ is int


_OPERAND_CLASSES = (Array, np.ndarray, np.generic, bool, int, float, complex)


def is_operand(x: Any) -> bool:
    """Whether an operator takes `x`: arrays and numbers; lists are for functions."""
    return (
        isinstance(x, _OPERAND_CLASSES)
        or hasattr(x, "__hloom_array__")
        or hasattr(x, "__jax_array__")
    )


def reduction(
    fun: Callable[..., Any], prepare: Callable[..., None] | None = None
) -> Callable[..., Any]:
    """Decorate `fun(a, axis=None, *, .., keepdims=False, ..)`: array, axis, and rarer arguments.

    `prepare(name, a, arguments)` may look at the rarer ones before they become arrays.
    """
    tables = Tables()
    general = function(fun)
    name = fun.__name__.strip("_")

    @keeps_width
    def rarer(a: Any, *args: Any, **kwargs: Any) -> Any:
        if prepare is not None:
            prepare(name, a, kwargs)
        try:
            return general(a, *args, **kwargs)
        except Exception as error:
            alone = len(args) == 1 and args[0] is None  # the axis as it came
            given = (a,) if alone else (a, *args)
            raise retold(fun, name, given, kwargs, error) or error from None

    def call(a: Any, axis: Any = None, *args: Any, keepdims: Any = False, **kwargs: Any) -> Any:
        if not args and not kwargs:
            # (0, 1.0) equals (0, 1), and must not find its executable.
            if a.__class__ is Array and (axis.__class__ is not tuple or _is_integers(axis)):
                try:
                    return tables[get().key][a.aval, axis, axis.__class__, keepdims]([a._buf])
                except (KeyError, RuntimeError, TypeError):
                    pass
            if keepdims.__class__ is bool and (
                axis is None or axis.__class__ is int or _is_integers(axis)
            ):
                body = partial(fun, axis=axis, keepdims=keepdims)
                return run(body, tables, name, (a,), (axis, axis.__class__, keepdims))
        if keepdims is not False:
            kwargs["keepdims"] = keepdims
        return rarer(a, axis, *args, **kwargs)

    call.is_public = True  # type: ignore[attr-defined]
    return update_wrapper(call, fun)


def planned(fun: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Decorate `fun(x, plan)`: an array, and a hashable value that says all else (as new sizes).

    Functions whose arguments are checked on the host, whatever the array's values, end in one of
    these.  The plan must tell apart what differs: 1, 1.0 and True are equal keys.
    """
    tables = Tables()
    name = fun.__name__.strip("_")

    def call(x: Any, plan: Any) -> Any:
        if x.__class__ is Array:
            try:
                return tables[get().key][x.aval, plan]([x._buf])
            except (KeyError, RuntimeError):
                pass
        return run(lambda operand: fun(operand, plan), tables, name, (x,), (plan,))

    return update_wrapper(call, fun)


def _is_integers(axis: Any) -> bool:
    return axis.__class__ is tuple and all(a.__class__ is int for a in axis)


def planned_sequence(fun: Callable[[Sequence[Any], Any], Any]) -> Callable[[Any, Any], Any]:
    """Decorate `fun(xs, plan)`: several arrays, and a hashable value that says all else.

    As `planned`, for functions of a sequence of arrays (`concatenate`).
    """
    tables = Tables()
    name = fun.__name__.strip("_")

    def call(xs: Any, plan: Any) -> Any:
        try:
            return tables[get().key][(*[x.aval for x in xs], plan)]([x._buf for x in xs])
        except (KeyError, AttributeError, RuntimeError):
            pass
        return run(lambda *operands: fun(operands, plan), tables, name, xs, (plan,))

    return update_wrapper(call, fun)


def function(
    fun: Callable[..., Any] | None = None,
    *,
    static: Iterable[str] | None = None,
    sequences: Iterable[str] = (),
) -> Any:
    """Decorate a function of any signature.

    Parameters annotated or named in `static` are static: they must be hashable (lists become
    tuples) and select the executable.  Those in `sequences` are sequences of arrays.  All others
    are arrays, or None.  Without `static`, the parameters whose usual names say so are static
    (`axis`, `dtype`, `keepdims`, `shape`, ..: see STATIC_NAMES).
    """
    if fun is None:
        return partial(function, static=static, sequences=sequences)
    parameters = list(inspect.signature(fun).parameters.values())
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    statics = frozenset(STATIC_NAMES if static is None else static)
    lists = frozenset(sequences)
    tables = Tables()
    name = fun.__name__.strip("_")

    @wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        context = get()
        if context.key is None:
            return fun(*args, **kwargs)
        given = [(names[i] if i < len(names) else rest, x) for i, x in enumerate(args)]
        plan, arrays, key = _sorted_out(name, [*given, *kwargs.items()], statics, lists)
        count = len(args)

        def body(*xs: Any) -> Any:
            it = iter(xs)
            values = [
                how if n is None else next(it) if n == -1 else how([next(it) for _ in range(n)])
                for n, how in plan
            ]
            return fun(*values[:count], **dict(zip(kwargs, values[count:])))

        return run_function(body, tables, name, arrays, tuple(key))

    return call


def _sorted_out(
    name: str, given: Iterable[tuple[Any, Any]], statics: frozenset[str], lists: frozenset[str]
) -> tuple[list[tuple[Any, Any]], list[Any], list[Any]]:
    """What each argument is, (None, static value) or (count, sequence class), -1 for one array;
    the arrays among them; and what selects the executable besides their types."""
    plan: list[tuple[Any, Any]] = []
    arrays: list[Any] = []
    key: list[Any] = []
    for parameter, x in given:
        if parameter in statics or x is None:
            x = static_value(name, parameter, x)
            classes = _classes(x) if x.__class__ is tuple else None
            key.append((parameter, x.__class__, classes, x))
            if x.__class__ is float:
                key.append(x.hex())  # 0.0 == -0.0
            plan.append((None, x))
        elif parameter in lists and isinstance(x, (list, tuple)):
            key.append((parameter, x.__class__, len(x)))
            plan.append((len(x), x.__class__))
            arrays += x
        else:
            key.append(parameter)
            plan.append((-1, None))
            arrays.append(x)
    return plan, arrays, key


def run_function(
    body: Any, tables: Tables, name: str, operands: list[Any], statics: tuple[Any, ...]
) -> Any:
    """As `run`, with an error for static arguments that cannot be hashed."""
    table = tables[get().key]
    arrays = [x if x.__class__ is Array else array_like(name, x, i) for i, x in enumerate(operands)]
    key = (*[x.aval for x in arrays], *statics)
    buffers = [x._buf for x in arrays]
    try:
        found = table.get(key)
    except TypeError:
        raise _unhashable(name, statics) from None
    if found is None:
        avals = [x.aval for x in arrays]
        found = build(body, avals, name, lambda run: table.store(key, run))  # type: ignore[attr-defined]
    return finish(found, buffers, name, arrays)


STATIC_NAMES = (
    "axis", "axes", "axis1", "axis2", "dtype", "keepdims", "shape", "newshape", "order", "out",
    "ddof", "correction", "k", "n", "m", "num", "N", "M", "indices_or_sections", "side", "kind",
    "stable", "descending", "mode", "method", "overwrite_input", "copy", "offset", "precision",
    "preferred_element_type", "source", "destination", "indexing", "sparse", "size",
    "assume_sorted", "casting", "promote_integers", "total_repeat_length", "unique_indices",
    "indices_are_sorted", "assume_unique", "return_index", "return_inverse", "return_counts",
    "equal_nan", "endpoint", "retstep", "include_initial", "bitorder", "increasing", "device",
    "subok", "ndmin", "rowvar", "bias", "density", "start_axis", "wrap", "reps", "pad_width",
    "stat_length", "reflect_type", "permutation", "sizes", "subscripts", "optimize",
    "max_squarings", "decimals", "shift",
)  # fmt: skip


def static_value(name: str, parameter: Any, x: Any) -> Any:
    """A static argument in a form that can be hashed: lists as tuples, integer arrays as ints."""
    if x.__class__ in (int, str, type(None), bool, type, float):
        return x
    if isinstance(x, (list, tuple)):
        return tuple([static_value(name, parameter, v) for v in x])
    if isinstance(x, Tracer):
        raise errors.ConcretizationTypeError.parameter(name, parameter, x.traced())
    if isinstance(x, np.integer):
        return int(x)
    if isinstance(x, (np.ndarray, Array)):
        if parameter == "out":
            refuse_out(name, x)
        if parameter != "indices_or_sections":
            refuse_data(name, parameter, x)
        if dtypes.kind(np.dtype(x.dtype)) in ("signed", "unsigned") and not x.shape:
            return operator.index(x)
        return static_value(name, parameter, np.asarray(x).tolist())
    return x


def _classes(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Classes of a tuple's elements: (0, 1) and (0, 1.0) are equal, but not the same argument."""
    return tuple([_classes(v) if v.__class__ is tuple else v.__class__ for v in values])


def _unhashable(name: str, statics: tuple[Any, ...]) -> Exception:
    for entry in statics:
        if isinstance(entry, tuple) and len(entry) == 4:
            try:
                hash(entry[3])
            except TypeError:
                return errors.unhashable_static(
                    name, entry[0], entry[3], transform="", at=source.here()
                )
    return TypeError(f"{name}: an argument cannot be hashed")
