"""What goes wrong while a function is traced: values that are not there yet, and leaks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Self

from hloom.errors.rewriting import (
    argument,
    converted,
    integer,
    of_hloom,
    sized,
    stores,
    truth,
)
from hloom.errors.texts import (
    Explained,
    Traced,
    Where,
    element_update,
    masked_read,
    numpy_call,
    source_line,
    static_ways,
)
from hloom.errors.ufuncs import UfuncCall, assigned, at_update, in_hloom, written_to

# Where an argument can't be made static: it is an array, or the value was computed from one.
_BEFORE = (
    "It decides what is compiled: compute it before the call, and pass it as a Python number that "
    "is static."
)

Operations = Sequence[tuple[str, str, int, str]]


class JAXTypeError(Explained, TypeError):
    """A traced value was used where Python needs a value of its own.

    The base of the errors that are TypeErrors for this reason; it is never raised itself.

    Fails:

    ```python
    # raises: ConcretizationTypeError
    import hloom

    @hloom.jit
    def half(x):
        return float(x) / 2

    half(1.0)
    ```

    Works: catch the base where any of its kind will do.

    ```python
    import hloom

    @hloom.jit
    def half(x):
        return float(x) / 2

    try:
        half(1.0)
    except hloom.errors.JAXTypeError:
        print("half needs a value, so it cannot be traced")
    ```
    """


class JAXIndexError(Explained, IndexError):
    """A traced value was used as an index that needs a value.

    The base of `NonConcreteBooleanIndexError`; it is never raised itself.

    Fails:

    ```python
    # raises: NonConcreteBooleanIndexError
    import hloom
    import hloom.numpy as jnp

    positives = hloom.jit(lambda x: x[x > 0])
    positives(jnp.arange(3.0))
    ```

    Works: catch the base where any of its kind will do.

    ```python
    import hloom
    import hloom.numpy as jnp

    positives = hloom.jit(lambda x: x[x > 0])
    try:
        positives(jnp.arange(3.0))
    except hloom.errors.JAXIndexError:
        print("the shape of x[x > 0] depends on values")
    ```
    """


class ConcretizationTypeError(JAXTypeError):
    """A value is needed while tracing, where only its type is known.

    `jit`, `vmap` and loops run a function once with tracers in place of arrays: a tracer knows its
    shape and dtype but not its elements. Shapes, axes, `float(x)`, `x.item()` and the like need
    elements.

    Fails, since `jnp` functions are recorded while tracing, even on constants:

    ```python
    # raises: ConcretizationTypeError
    import hloom
    import hloom.numpy as jnp

    @hloom.jit
    def flat(x):
        return x.reshape(jnp.array(x.shape).prod())

    flat(jnp.ones((2, 3)))
    ```

    Works: shapes are plain Python integers, and NumPy computes with them at once.

    ```python
    import hloom
    import hloom.numpy as jnp
    import numpy as np

    @hloom.jit
    def flat(x):
        return x.reshape(np.prod(x.shape))

    flat(jnp.ones((2, 3)))
    ```

    Works: an argument that decides a shape is static; each of its values is compiled once.

    ```python
    from functools import partial
    import hloom
    import hloom.numpy as jnp

    @partial(hloom.jit, static_argnums=(0,))
    def countdown(n):
        return jnp.arange(n)[::-1]

    countdown(3)
    ```
    """

    @classmethod
    def conversion(cls, traced: Traced, function: str) -> Self:
        """`float(x)`, `int(x)`, `complex(x)`, `x.item()`, `x.tolist()` (`function`) on a tracer."""
        rule = (
            "Abstract tracer value encountered where concrete value is expected: traced array with "
            f"shape {traced.aval}.\nThe problem arose with the `{function}` function."
        )
        ways = converted(traced.at, function)
        if not ways and function in ("float", "int", "complex", "bool"):
            ways = [(f"x.astype({function})", "another dtype; no value is needed")]
        if function == "format":
            ways = [("str(x)", "its type; its value is there when the call has returned")]
        return cls._of(rule, ways=[*ways, *static_ways(traced)], traced=traced)

    @classmethod
    def shape(cls, given: Any, traced: Traced) -> Self:
        """A tracer among the sizes of a shape; `given` is the whole shape as the user wrote it."""
        sizes = list(given) if isinstance(given, (list, tuple)) else [given]
        rule = f"Shapes must be 1D sequences of concrete values of integer type, got {sizes}."
        ways = static_ways(traced)
        if not traced.arguments:
            ways.append(("np.prod(x.shape)", "NumPy computes at once; hloom.numpy is recorded"))
        return cls._of(rule if ways else f"{rule} {_BEFORE}", ways=ways, traced=traced)

    @classmethod
    def parameter(cls, who: str, name: str, traced: Traced) -> Self:
        """A tracer for a parameter that must be known, as `axis` (`name`) of `jnp.sum` (`who`)."""
        rule = (
            f"{who} needs the value of `{name}` while tracing, but got a traced array with "
            f"shape {traced.aval}, not a concrete value."
        )
        ways = static_ways(traced)
        return cls._of(rule if ways else f"{rule} {_BEFORE}", ways=ways, traced=traced)

    @classmethod
    def size(cls, who: str, traced: Traced, parameter: str = "size") -> Self:
        """The shape of a result depends on values, as that of `jnp.nonzero` (`who`) does.

        `parameter` is the one that would fix it.
        """
        rule = (
            f"The shape of {who}'s result depends on the elements of its operand {traced.aval}, "
            f"which are not known while tracing: the {parameter} argument must be statically "
            "specified."
        )
        code = sized(traced.at, parameter) or f"{who}(x, {parameter}=n)"
        ways = [(code, "a Python int; the rest is filled")]
        return cls._of(rule, ways=ways, traced=traced)


class TracerBoolConversionError(ConcretizationTypeError):
    """`if`, `while`, `and`, `or`, `not` or `bool()` met a traced value.

    While a function is traced its arrays have a type but no elements, so Python cannot choose a
    branch by them.

    Fails:

    ```python
    # raises: TracerBoolConversionError
    from hloom import jit

    @jit
    def f(x, neg):
        return -x if neg else x

    f(1, True)
    ```

    Works: `neg` is static.  Python sees its value, and each value is compiled once.

    ```python
    from functools import partial
    from hloom import jit

    @partial(jit, static_argnums=(1,))
    def f(x, neg):
        return -x if neg else x

    f(1, True)
    ```

    Works: both are computed and one is chosen, element by element.

    ```python
    from hloom import jit
    import hloom.numpy as jnp

    @jit
    def f(x, neg):
        return jnp.where(neg, -x, x)

    f(1, True)
    ```

    For a branch that should run only when it is chosen there is `lax.cond(neg, true_fun,
    false_fun, x)`; for `while` there is `lax.while_loop`.
    """

    @classmethod
    def of(cls, traced: Traced) -> Self:
        """The truth value of a tracer was asked for."""
        rule = f"Attempted boolean conversion of traced array with shape {traced.aval}."
        many = bool(getattr(traced.aval, "shape", ()))
        ways = truth(traced.at, traced.arguments, many=many, traced=True)
        ways = [*static_ways(traced), *(ways or cls._general(traced))]
        if many:
            ways.insert(0, ("x.any() or x.all()", "one truth value, for the ways below"))
        return cls._of(rule, ways=ways, traced=traced)

    @staticmethod
    def _general(traced: Traced) -> list[tuple[str, str]]:
        """Ways out where the user's line is not known, or has none of its own."""
        ways = [
            ("lax.cond(p, true_fun, false_fun, x)", "run one of two functions"),
            ("jnp.where(p, a, b)", "choose element by element"),
        ]
        if source_line(traced.at).startswith("while"):
            ways.insert(0, ("lax.while_loop(cond_fun, body_fun, x)", "repeat a function"))
        return ways


class TracerIntegerConversionError(JAXTypeError):
    """Python asked a traced value to be an integer: an index into a list, `range(n)`, a size.

    Fails:

    ```python
    # raises: TracerIntegerConversionError
    from hloom import jit

    @jit
    def pick(i):
        return [10, 20, 30][i]

    pick(1)
    ```

    Works: an array can be indexed by a traced value.

    ```python
    from hloom import jit
    import hloom.numpy as jnp

    @jit
    def pick(i):
        return jnp.array([10, 20, 30])[i]

    pick(1)
    ```

    Works: `i` is static.

    ```python
    from functools import partial
    from hloom import jit

    @partial(jit, static_argnums=(0,))
    def pick(i):
        return [10, 20, 30][i]

    pick(1)
    ```
    """

    @classmethod
    def of(cls, traced: Traced) -> Self:
        """Python called `__index__` of a tracer."""
        rule = f"The __index__() method was called on traced array with shape {traced.aval}."
        static, ways = static_ways(traced), integer(traced.at, next(iter(traced.arguments), "x"))
        line = source_line(traced.at)
        if not ways and re.search(r"\brange\(", line):
            ways = [("lax.fori_loop(0, n, body, x)", "to loop a traced number of times")]
        if not ways and not (static and line):  # an index, or a size, which only the first can be
            ways = [("jnp.asarray(values)[i]", "to index a list or NumPy array")]
        return cls._of(rule, ways=[*static, *ways], traced=traced)


class TracerArrayConversionError(ConcretizationTypeError):
    """NumPy, or anything else that wants an `ndarray`, was given a traced value.

    NumPy computes with elements, which a traced value does not have. The functions of
    `hloom.numpy` have NumPy's names and take both.

    Where `grad` or `jvp` runs outside `jit`, a value has elements too; but what `np.sin` makes of
    them would have no derivative, and so it is refused as well.

    Fails:

    ```python
    # raises: TracerArrayConversionError
    import hloom
    import numpy as np

    @hloom.jit
    def f(x):
        return np.sin(x)

    f(1.0)
    ```

    Works:

    ```python
    import hloom
    import hloom.numpy as jnp

    @hloom.jit
    def f(x):
        return jnp.sin(x)

    f(1.0)
    ```
    """

    @classmethod
    def of(cls, traced: Traced, call: UfuncCall | None = None) -> Self:
        """`call` is that of NumPy's ufunc which asked; else the user's line is searched."""
        rule = (
            "The numpy.ndarray conversion method __array__() was called on traced array with "
            f"shape {traced.aval}."
        )
        if call is not None and (way := _in_hloom(call)):
            return cls._of(rule, ways=[way], traced=traced)
        path, code = of_hloom(traced.at)
        if path and not code:
            rule += f" hloom.numpy has no {path}: call NumPy's before the function is traced."
            return cls._of(rule, traced=traced)
        return cls._of(rule, ways=cls._ways(traced, path, code), traced=traced)

    @classmethod
    def differentiated(cls, aval: Any, call: UfuncCall) -> Self:
        """NumPy's ufunc was called on a value of type `aval` that is differentiated by."""
        rule = (
            f"{call} was called on a {aval} that is being differentiated: NumPy computes with its "
            "value alone, and the derivative would be lost."
        )
        way = _in_hloom(call) or ("lax.stop_gradient(x)", "a value without a derivative")
        return cls._of(rule, ways=[way], at=call.at)

    @staticmethod
    def _ways(traced: Traced, name: str, code: str) -> list[tuple[str, str]]:
        """`name` is NumPy's function, where known, and `code` the call of hloom's."""
        line, given = source_line(traced.at), argument(traced.at) or "x"
        name = name or numpy_call(line) or ""
        update = element_update(line, "jnp.asarray({})")
        if update and stores(traced.at):
            return [(update[1], f"in place of {update[0]}")]
        if read := integer(traced.at, ""):
            return read
        if name in ("asarray", "array") and given.isidentifier():
            return [(given, "it is an array already")]
        if name == "arange":  # that of hloom takes no traced value either
            return static_ways(traced)
        if code:
            return [(code, f"hloom.numpy.{name} can be traced")]
        if name:
            return [(f"hloom.numpy.{name}", f"in place of numpy.{name}: it can be traced")]
        return [("import hloom.numpy as jnp", "jnp.sin(x) in place of np.sin(x)")]

    @classmethod
    def method(cls, traced: Traced, name: str) -> Self:
        """`x.tolist()` and `x.tobytes()` (`name`), which give elements."""
        rule = (
            f"x.{name}() gives elements, which are not known while tracing: it was called on "
            f"traced array with shape {traced.aval}."
        )
        return cls._of(rule, ways=converted(traced.at, name), traced=traced)


def _in_hloom(call: UfuncCall) -> tuple[str, str] | None:
    """A way out of a call of NumPy's ufunc, where hloom has a function that does the same."""
    if call.method == "at":
        code = at_update(call, "jnp.asarray({})")
    else:
        code = assigned(call) if written_to(call) else in_hloom(call)
    return (code, f"in place of {call}: it can be traced") if code else None


class NonConcreteBooleanIndexError(JAXIndexError):
    """An array was indexed by a mask whose elements are not known while tracing.

    The size of `x[mask]` is the number of True elements; a traced program has fixed shapes.

    Fails:

    ```python
    # raises: NonConcreteBooleanIndexError
    import hloom
    import hloom.numpy as jnp

    @hloom.jit
    def negatives(x):
        return x[x < 0]

    negatives(jnp.array([-1.0, 2.0, -3.0]))
    ```

    Works: keep the shape and put a value where the mask is False.

    ```python
    import hloom
    import hloom.numpy as jnp

    @hloom.jit
    def negatives(x):
        return jnp.where(x < 0, x, 0)

    negatives(jnp.array([-1.0, 2.0, -3.0]))
    ```

    Works: reductions take the mask, and updates by a mask keep the shape.

    ```python
    import hloom
    import hloom.numpy as jnp

    @hloom.jit
    def f(x):
        return x.sum(where=x < 0), x.at[x < 0].set(0)

    f(jnp.array([-1.0, 2.0, -3.0]))
    ```
    """

    @classmethod
    def of(cls, traced: Traced) -> Self:
        """The mask is a tracer; the rewrite uses the names in the user's line where it can."""
        rule = f"Array boolean indices must be concrete; got {traced.aval}."
        old, x, mask = masked_read(source_line(traced.at)) or ("x[mask]", "x", "mask")
        ways = [
            (f"jnp.where({mask}, {x}, 0)", f"in place of {old}: the shape is kept"),
            (f"jnp.nonzero({mask}, size={x}.shape[0])", "the positions, filled up to a known size"),
            (f"{x}.sum(where={mask})", "reductions take the mask"),
        ]
        return cls._of(rule, ways=ways, traced=traced)


class UnexpectedTracerError(JAXTypeError):
    """A traced value was used outside the call that traced it.

    A tracer represents a value only while its function is traced. Kept in a global, an attribute
    or a list, or handed to another thread, it means nothing afterwards.

    Fails:

    ```python
    # raises: UnexpectedTracerError
    import hloom
    import hloom.numpy as jnp

    kept = []

    @hloom.jit
    def loss(x):
        kept.append(jnp.sin(x))
        return jnp.sin(x) ** 2

    loss(1.0)
    kept[0] + 1
    ```

    Works: return what is wanted outside.

    ```python
    import hloom
    import hloom.numpy as jnp

    @hloom.jit
    def loss(x):
        s = jnp.sin(x)
        return s ** 2, s

    value, s = loss(1.0)
    s + 1
    ```
    """

    @classmethod
    def leaked(
        cls,
        aval: Any,
        where: Where,
        made_at: Operations = (),
        *,
        finished: bool = True,
        at: Any = None,
    ) -> Self:
        """A tracer of `where` was evaluated; `finished`: its function had returned by then."""
        if finished:
            rule = f"A traced {aval} was used after {where} had returned."
        else:
            rule = f"A traced {aval} was evaluated while {where} is still being traced."
        rule += "\nThe function had a side effect: it let an intermediate value escape."
        for _, file, line, function in made_at[-1:]:
            rule += f"\nThe leaked value was created on line {file}:{line} ({function})."
        name = where.function if where.function.isidentifier() else "the function"
        ways = [("return y, leaked", f"at the end of {name}, then use what it returned")]
        return cls._of(rule, ways=ways, at=at)


class KeyReuseError(JAXTypeError):
    """A random key was used twice, which gives the same numbers twice.

    hloom does not check this yet; the class is here so that `except` clauses of programs written
    for JAX can be run. Split a key before each use: `key, sub = random.split(key)`.
    """


class InconclusiveDimensionOperation(Exception):
    """A question about a symbolic size, such as whether `b >= 4`, has no answer for all sizes.

    hloom has no symbolic sizes yet; the class is here so that `except` clauses of programs written
    for JAX can be run.
    """
