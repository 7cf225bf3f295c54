"""What goes wrong with arrays, programs and engines, and the warnings."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from hloom.errors.rewriting import changed as updated
from hloom.errors.texts import (
    Explained,
    article,
    binary_size,
    element_update,
    explain,
    index_text,
    source_line,
    value_text,
)
from hloom.errors.ufuncs import UfuncCall, assigned, at_update


class ImmutableArrayError(Explained, TypeError):
    """An array was to be changed in place; arrays cannot change.

    Fails:

    ```python
    # raises: ImmutableArrayError
    import hloom.numpy as jnp

    x = jnp.arange(10)
    x[0] = 10
    ```

    Works: `.at` gives an updated copy (inside `jit` no copy is made when the old one is not used
    again).

    ```python
    import hloom.numpy as jnp

    x = jnp.arange(10)
    x = x.at[0].set(10)
    ```

    `x[0] += 1` is `x = x.at[0].add(1)`; there are also `subtract`, `multiply`, `divide`, `power`,
    `min`, `max` and `apply`.

    Functions give a new array, and write to none:

    ```python
    # raises: ImmutableArrayError
    import numpy as np
    import hloom.numpy as jnp

    x = jnp.arange(10)
    np.add(x, 1, out=x)
    ```

    Works:

    ```python
    import hloom.numpy as jnp

    x = jnp.arange(10)
    x = jnp.add(x, 1)
    ```
    """

    @classmethod
    def assignment(
        cls, name: str, index: Any, value: Any = None, *, at: Any = None,
        scope: Mapping[str, Any] = MappingProxyType({}),
    ) -> Self:  # fmt: skip
        """`x[index] = value` on an object of class `name`; `scope` has the user's names."""
        rule = (
            f"'{name}' object does not support item assignment. hloom arrays are immutable: "
            "in place of `x[idx] = y` use `x = x.at[idx].set(y)` or another .at[] method."
        )
        given, line = value_text(value), source_line(at)
        own = element_update(line, scope=scope)
        if getattr(at, "function", "").endswith("shuffle") or "shuffle(" in line:
            way = ("x = jnp.asarray(np.random.permutation(x))", "a copy in another order")
        elif own is not None:
            way = (own[1], f"in place of {own[0]}")
        else:
            way = (f"x = x.at[{index_text(index)}].set({given})", "")
        return cls._of(rule, ways=[way], at=at)

    @classmethod
    def deletion(cls, name: str, index: Any, *, at: Any = None) -> Self:
        """`del x[index]` on an object of class `name`."""
        rule = f"'{name}' object doesn't support item deletion. hloom arrays are immutable."
        way = (f"x = jnp.delete(x, {index_text(index)})", "a copy without these elements")
        return cls._of(rule, ways=[way], at=at)

    @classmethod
    def method(cls, name: str, way: str, *, at: Any = None) -> Self:
        """`x.name(..)`, a method that changes an `ndarray` in place; `way` is code without it."""
        rule = f"hloom arrays are immutable, and `{name}` changes an array in place."
        return cls._of(rule, ways=[(way, "")] if way else [], at=at)

    @classmethod
    def output(cls, name: str, way: str, *, at: Any = None) -> Self:
        """`name(.., out=x)`; `way` is the call as an assignment, "" where it is not known."""
        rule = (
            f"{name} can't write to `out`, since hloom arrays are immutable; use what it returns: "
            f"out = {name}(...)"
        )
        return cls._of(rule, ways=[(way, "")] if way else [], at=at)

    @classmethod
    def ufunc(cls, call: UfuncCall) -> Self:
        """NumPy's `np.add(a, b, out=x)`, or `np.add.at(x, i, y)`."""
        if call.method == "at":
            return cls.method(str(call), at_update(call), at=call.at)
        return cls.output(str(call), assigned(call), at=call.at)


class DeletedArrayError(Explained, RuntimeError):
    """The memory of an array is gone: it was donated to a jitted function, or deleted.

    `donate_argnums` lets a function write its result over its argument; the argument cannot be
    used afterwards.

    Fails:

    ```python
    # raises: DeletedArrayError
    import hloom
    import hloom.numpy as jnp

    step = hloom.jit(lambda x: x + 1, donate_argnums=(0,))
    x = jnp.ones(3)
    y = step(x)
    x + y
    ```

    Works: give the result the name of the argument, or do not donate.

    ```python
    import hloom
    import hloom.numpy as jnp

    step = hloom.jit(lambda x: x + 1, donate_argnums=(0,))
    x = jnp.ones(3)
    x = step(x)
    x + 1
    ```
    """

    @classmethod
    def of(cls, aval: Any, donated_to: Any = None, *, at: Any = None) -> Self:
        """`donated_to` is the function, or its `Where`, that received the memory of `aval`."""
        how = f"donated to {donated_to}" if donated_to is not None else "deleted or donated"
        rule = f"Array has been deleted with shape={aval}: its memory was {how}."
        ways = [
            ("x = f(x)", "use the result, not the donated argument"),
            ("jit(f)", "without donate_argnums"),
        ]
        return cls._of(rule, ways=ways, at=at)

    @classmethod
    def captured(cls, aval: Any, function: str, *, at: Any = None) -> Self:
        """`function` was traced with an array of type `aval` that it closed over."""
        rule = (
            f"Array has been deleted with shape={aval}: {function} closes over it, and its memory "
            "was deleted or donated."
        )
        ways = [
            (f"{function if function.isidentifier() else 'f'}(x, ..)", "pass it as an argument"),
            ("jnp.copy(x)", "close over a copy, made before it is donated"),
        ]
        return cls._of(rule, ways=ways, at=at)


class AxisError(np.exceptions.AxisError):
    """An axis is named that the array does not have.

    It is NumPy's `AxisError`, and so a ValueError and an IndexError, with NumPy's `axis` and
    `ndim`.

    Fails:

    ```python
    # raises: AxisError
    import hloom.numpy as jnp

    jnp.sum(jnp.ones((2, 3)), axis=2)
    ```

    Works: axes count from 0, or from the last one, which is -1.

    ```python
    import hloom.numpy as jnp

    jnp.sum(jnp.ones((2, 3)), axis=1)
    jnp.sum(jnp.ones((2, 3)), axis=-1)
    ```
    """

    told = ""  # the user's line and what was being traced, said later

    def __str__(self) -> str:
        return super().__str__() + self.told


class EngineError(Explained, RuntimeError):
    """An engine could not compile or run a program; the text has the engine's own words.

    `hloom.errors.JaxRuntimeError` is another name of this class.  Two kinds have their own class:
    `EngineUnsupported` and `DeviceMemoryError`.

    Fails:

    ```python
    # raises: DeviceMemoryError
    import hloom.numpy as jnp

    jnp.ones((1 << 25, 1 << 25))
    ```

    Works: catch it where a program can do with less.

    ```python
    import hloom
    import hloom.numpy as jnp

    try:
        x = jnp.ones((1 << 25, 1 << 25))
    except hloom.errors.EngineError:
        x = jnp.ones((1 << 5, 1 << 5))
    ```
    """

    @classmethod
    def of(cls, engine: str, stage: str, said: object) -> Self:
        """`engine` failed to `stage` ("compile", "run", "load"), and `said` why."""
        rule = f"The {engine} engine could not {stage} the program: {said}"
        return cls._of(rule)


JaxRuntimeError = EngineError


class EngineUnsupported(EngineError):
    """The chosen engine cannot run this program, though another can.

    The reference interpreter lacks some operations and types, and only the xla engine has an
    optimised program to look at, with its costs.

    Fails:

    ```python
    # raises: EngineUnsupported
    import hloom
    import hloom.numpy as jnp

    with hloom.engine("reference"):
        jnp.arange(3).astype("int4")
    ```

    Works:

    ```python
    import hloom
    import hloom.numpy as jnp

    with hloom.engine("numpy"):
        jnp.arange(3).astype("int4")
    ```
    """

    @classmethod
    def operation(cls, engine: str, operation: str, why: str, *, at: Any = None) -> Self:
        """`engine` cannot run `operation`; `why` is a clause ("its results are complex")."""
        others = [name for name in ("xla", "numpy") if name != engine]
        rule = f"The {engine} engine cannot run {operation}: {why}."
        ways = [(f'with hloom.engine("{name}"):', "") for name in others]
        return cls._of(rule, ways=ways, at=at)


class DeviceMemoryError(MemoryError, EngineError):
    """An array does not fit into the device's memory.

    It is a MemoryError, as NumPy raises, and an EngineError. Nothing else is lost: the process can
    go on.

    Fails:

    ```python
    # raises: DeviceMemoryError
    import hloom.numpy as jnp

    jnp.ones((1 << 25, 1 << 25)).sum()
    ```

    Works: go piece by piece.

    ```python
    import hloom.numpy as jnp

    total = 0.0
    for start in range(0, 1 << 12, 1 << 10):
        total += jnp.ones((1 << 10, 1 << 12)).sum()
    ```
    """

    @classmethod
    def allocation(
        cls,
        what: Any,
        size: int | None = None,
        said: object = "",
        *,
        free: int | None = None,
        array: Any = None,
        hopeless: bool = False,
        at: Any = None,
    ) -> Self:
        """`what`, a type or a program's name, needs `size` bytes; `said` is the engine's text.

        `free` bytes are there; most of the rest is for an array of type `array`.  `hopeless`: one
        array alone is too large, so that nothing else would help.
        """
        rule = f"Out of device memory: cannot hold {what}."
        if size is not None:
            left = f"; {binary_size(free)} are free" if free is not None else ""
            rule = f"{rule}\n{array or what} needs {binary_size(size)}{left}."
        if free is not None:
            rule += f"\nIt needs {size:,} bytes; {free:,} are free."
        ways = [
            ("lax.map(f, xs)", "one piece after another"),
            ("x.delete()", "free what is not needed"),
        ]
        rule += f"\n{said}" if said else ""
        hopeless = hopeless or size is not None and size >= 1 << 47
        return cls._of(rule, ways=[] if hopeless else ways, at=at)


class MaskedArrayError(Explained, ValueError):
    """A masked array of `numpy.ma` has masked elements, and arrays here have no masks.

    Its values would be computed with as if none were masked. One in which nothing is masked is
    taken for the plain array that it is.

    Fails:

    ```python
    # raises: MaskedArrayError
    import numpy as np
    import hloom.numpy as jnp

    x = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    jnp.sum(x)
    ```

    Works: put numbers in place of what is masked, or say for each function what to leave out.

    ```python
    import numpy as np
    import hloom.numpy as jnp

    x = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    jnp.sum(x.filled(0))
    jnp.sum(x.data, where=~x.mask)
    jnp.where(x.mask, jnp.nan, x.data)
    ```
    """

    @classmethod
    def of(cls, aval: Any, size: int, masked: int, *, at: Any = None) -> Self:
        """Of the `size` elements of an array of `numpy.ma`, of type `aval`, so many are masked."""
        rule = (
            f"Arrays have no masks, and {masked} of {size} elements of this masked {aval} are "
            "masked: they would be computed with all the same."
        )
        ways = [
            ("x.filled(0)", "numbers in their place"),
            ("jnp.where(x.mask, 0, x.data)", "the same, where x is traced later"),
            ("jnp.sum(x.data, where=~x.mask)", "a reduction that leaves them out"),
        ]
        return cls._of(rule, ways=ways, at=at)


class JaxprTypeError(TypeError):
    """A Jaxpr is not well formed: a variable is not bound, or a type is not what is inferred.

    `hloom.core.jaxpr.check_jaxpr` raises it. No program of hloom's own making should: if one does,
    that is a fault of a transformation rule, worth reporting.

    Fails: an equation is taken away from under those that use its result.

    ```python
    # raises: JaxprTypeError
    import hloom
    from hloom.core.jaxpr import Jaxpr, check_jaxpr

    whole = hloom.make_jaxpr(lambda x: x * 2 + 1)(3.0).jaxpr
    check_jaxpr(Jaxpr(whole.inputs, whole.equations[1:], whole.outputs))
    ```

    Works:

    ```python
    import hloom
    from hloom.core.jaxpr import check_jaxpr

    check_jaxpr(hloom.make_jaxpr(lambda x: x * 2 + 1)(3.0).jaxpr)
    ```
    """


class TruncationWarning(Explained, UserWarning):
    """Values or precision may be lost: a dtype was asked for that does not hold what is put there.

    hloom is 32-bit by default, and takes 32-bit types for 64-bit ones. An array keeps its dtype
    when elements are set: floats are cut to integers in one of integers, as in NumPy.

    Fails (the warning is made an error here):

    ```python
    # raises: TruncationWarning
    import warnings
    import hloom
    import hloom.numpy as jnp

    with warnings.catch_warnings():
        warnings.simplefilter("error", hloom.errors.TruncationWarning)
        jnp.zeros(3, dtype="float64")
    ```

    Works: turn 64-bit types on, for the process (`HLOOM_ENABLE_X64=1`, or
    `hloom.config.update("enable_x64", True)`) or for a block.

    ```python
    import hloom
    import hloom.numpy as jnp

    with hloom.enable_x64():
        jnp.zeros(3, dtype="float64")
    ```

    Fails:

    ```python
    # raises: TruncationWarning
    import warnings
    import hloom
    import hloom.numpy as jnp

    x = jnp.zeros(3, dtype=int)
    with warnings.catch_warnings():
        warnings.simplefilter("error", hloom.errors.TruncationWarning)
        x.at[0].set(1.5)
    ```

    Works: make the array one of floats, or say that the fraction may go.

    ```python
    import hloom.numpy as jnp

    x = jnp.zeros(3, dtype=int)
    y = x.astype(float).at[0].set(1.5)
    x = x.at[0].set(int(1.5))
    ```
    """

    @classmethod
    def dtype(cls, requested: Any, given: Any, who: str = "this call", *, at: Any = None) -> Self:
        """`who` was asked for dtype `requested` and gives `given`."""
        rule = (
            f"Explicitly requested dtype {requested} in {who} is not available, and will be "
            f"truncated to {given}."
        )
        return cls._of(rule, ways=cls._ways(given), at=at)

    @classmethod
    def value(cls, value: Any, requested: Any, given: Any, *, at: Any = None) -> Self:
        """`value`, of dtype `requested`, does not fit into `given`."""
        rule = f"The value {value} of dtype {requested} does not fit into {given}, and is changed."
        return cls._of(rule, ways=cls._ways(given), at=at)

    @classmethod
    def cut(cls, who: str, values: Any, into: Any, *, at: Any = None) -> Self:
        """`who` puts floats, `values`, into an array of integers, `into`: the fractions go."""
        rule = f"{who}: {values} is put into {into}, and cut to integers."
        ways = [
            ("x.astype(float)", "an array of floats keeps the fractions"),
            ("jnp.asarray(y).astype(int)", "of the new values: says that they may go"),
        ]
        return cls._of(rule, ways=ways, at=at)

    @staticmethod
    def _ways(given: Any) -> list[tuple[str, str]]:
        return [
            ("with hloom.enable_x64():", "64-bit types in a block"),
            ("HLOOM_ENABLE_X64=1", "for the whole process"),
            (f"dtype={str(given)!r}", "ask for what is given: no warning"),
        ]


class DroppedUpdateWarning(Explained, UserWarning):
    """An updated copy of an array was made and thrown away; the array itself is as it was.

    Arrays cannot change: `x.at[0].set(1)` gives a new one, and so does what changes an array in
    place in NumPy: `x.sort()`, `jnp.put(x, .., inplace=False)`. The warning is given once for each
    place.

    Fails (the warning is made an error here):

    ```python
    # raises: DroppedUpdateWarning
    import warnings
    import hloom
    import hloom.numpy as jnp

    x = jnp.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", hloom.errors.DroppedUpdateWarning)
        x.at[0].set(1)
    ```

    Works: keep the result.

    ```python
    import hloom.numpy as jnp

    x = jnp.zeros(3)
    x = x.at[0].set(1)
    ```
    """

    @classmethod
    def of(cls, method: str, *, at: Any = None) -> Self:
        """The result of `x.at[..].method(..)` is not used."""
        rule = (
            f".at[...].{method}(...) gives a new array, and nothing takes it: the old one stays. "
            f"Keep what it gives: x = x.at[...].{method}(...)"
        )
        code = updated(at)
        return cls._of(rule, ways=[(code, "")] if code else [], at=at)

    @classmethod
    def changed(cls, call: str, *, at: Any = None) -> Self:
        """The result of `call`, `x.sort()` or the like, is not used; NumPy changes in place."""
        rule = f"{call} gives a new array, and nothing takes it: arrays are immutable, x stays."
        return cls._of(rule, ways=[(updated(at) or f"x = {call}", "keep what it gives")], at=at)


class CacheWarning(Explained, UserWarning):
    """The folder of cached executables cannot be used; every process compiles again.

    The folder must be writable, and by its owner only: whoever writes a compiled program there has
    it run. A damaged entry is compiled again. The warning is given once.

    `HLOOM_CACHE_DIR=/path/of/your/own` chooses another folder; `HLOOM_CACHE=0` uses none,
    and without the warning.
    """

    @classmethod
    def of(cls, folder: object, why: str) -> Self:
        """`folder` is not used since `why` ("others may write to it")."""
        rule = f"The cache folder {folder} is not used: {why}. Programs are compiled anew."
        ways = [
            ("HLOOM_CACHE_DIR=/path/of/your/own", "another folder, with mode 0700"),
            ("HLOOM_CACHE=0", "no cache on disk"),
        ]
        return cls._of(rule, ways=ways)


# ---- texts for exceptions of Python's own ------------------------------------------------------

_PURPOSE = {
    "infer": "its result type is unknown",
    "numpy": 'it does not run on engine "numpy"',
    "emit": "it cannot be compiled",
    "jvp": "it cannot be differentiated",
    "transpose": "it is not linear, or its reverse derivative is missing",
    "batch": "it cannot be mapped by vmap",
}


def missing_rule(primitive: str, rule: str) -> NotImplementedError:
    """The error of a primitive without one of its six rules."""
    return NotImplementedError(f"{primitive} has no {rule} rule, so {_PURPOSE[rule]}.")


_HASHABLE = {
    "list": ("tuple(...)", "use a tuple in place of a list"),
    "set": ("frozenset(...)", "use a frozenset in place of a set"),
    "dict": ("tuple(d.items())", "use a tuple of pairs in place of a dict"),
    "bytearray": ("bytes(...)", "use bytes in place of a bytearray"),
}


def unhashable_static(
    function: str, argument: str, value: Any, *, transform: str = "jit", at: Any = None
) -> ValueError:
    """The error of a static argument that cannot be hashed, and so cannot select a program."""
    kind = type(value).__name__
    rule = (
        f"Non-hashable static arguments are not supported: `{argument}` of "
        f"{transform}({function}) is {article(kind)}."
    )
    code, why = _HASHABLE.get(kind, ("a hashable value", "give its class __hash__ and __eq__"))
    way = (f"{argument}={code}", why)
    if hasattr(value, "__array__"):
        way = (f"{transform}({function})", f"`{argument}` is an array: do not make it static")
    return ValueError(explain(rule, ways=[way], at=at))
