"""Errors of two kinds at once: where NumPy raises one and JAX another, `except` works for both.

| class | NumPy's kind | JAX's kind | raised for |
| --- | --- | --- | --- |
| `ShapeError` | ValueError | TypeError | shapes, ranks or sizes that do not go together |
| `ArgumentError` | TypeError | ValueError | an argument of a kind or dtype that is not taken |
| `IndexKindError` | IndexError | TypeError | an index that is neither integer nor bool |
| `UnsupportedError` | ValueError | NotImplementedError | a mode or a derivative there is not |
| `TracedSliceError` | IndexError | ConcretizationTypeError | a slice with a traced bound |
| `DonatedTwiceError` | ValueError | RuntimeError | an array donated and used in one call |
| `TangentError` | TypeError | ValueError | a tangent that is not of its value's type |
"""

from __future__ import annotations

from typing import Self

from hloom.errors.rewriting import sliced
from hloom.errors.texts import Traced, static_ways
from hloom.errors.tracing import ConcretizationTypeError


class ShapeError(ValueError, TypeError):
    """Shapes, ranks or sizes do not go together: a ValueError, and a TypeError.

    NumPy raises ValueError for them, and JAX often TypeError; clauses written for either catch
    this one.

    Fails:

    ```python
    # raises: ShapeError
    import hloom.numpy as jnp
    from hloom import lax

    lax.add(jnp.ones((2, 4)), jnp.ones((3, 4)))
    ```

    Works: catch the kind that you know.

    ```python
    import hloom.numpy as jnp
    from hloom import lax

    for kind in (ValueError, TypeError):
        try:
            lax.add(jnp.ones((2, 4)), jnp.ones((3, 4)))
        except kind as error:
            print(error)
    ```
    """


class ArgumentError(TypeError, ValueError):
    """An argument is of a kind or a dtype that is not taken: a TypeError, and a ValueError.

    NumPy raises TypeError where JAX raises ValueError, or the other way round; clauses written for
    either catch this one.

    Fails:

    ```python
    # raises: ArgumentError
    import hloom.numpy as jnp

    jnp.sum(jnp.arange(3), where=jnp.array([1, 0, 1]))
    ```

    Works:

    ```python
    import hloom.numpy as jnp

    jnp.sum(jnp.arange(3), where=jnp.array([True, False, True]))
    ```
    """


class IndexKindError(IndexError, TypeError):
    """An index is neither an integer, a slice nor a mask: an IndexError, and a TypeError.

    NumPy raises IndexError, JAX TypeError; clauses written for either catch this one.

    Fails:

    ```python
    # raises: IndexKindError
    import hloom.numpy as jnp

    x = jnp.arange(3)
    x[1.5]
    ```

    Works:

    ```python
    import hloom.numpy as jnp

    x = jnp.arange(3)
    x[int(1.5)]
    ```
    """


class TracedSliceError(ConcretizationTypeError, IndexError):
    """A bound of a slice is traced, so the slice has no known length.

    A ConcretizationTypeError, and an IndexError as in JAX.

    Fails:

    ```python
    # raises: TracedSliceError
    import hloom
    import hloom.numpy as jnp

    head = hloom.jit(lambda x, n: x[:n])
    head(jnp.arange(5), 3)
    ```

    Works: the length is known, and only the start is traced.

    ```python
    import hloom
    import hloom.numpy as jnp
    from hloom import lax

    part = hloom.jit(lambda x, i: lax.dynamic_slice_in_dim(x, i, 3))
    part(jnp.arange(5), 1)
    ```

    Works: another program for each bound.

    ```python
    import hloom
    import hloom.numpy as jnp

    head = hloom.jit(lambda x, n: x[:n], static_argnums=1)
    head(jnp.arange(5), 3)
    ```
    """

    @classmethod
    def bound(cls, name: str, ndim: int, traced: Traced) -> Self:
        """A bound, `start`, `stop` or `step` (`name`), of an array of `ndim` axes is traced."""
        rule = (
            "x[start:stop:step] has a length that is known while tracing; the value of "
            f"`{name}` is not: it is a traced array with shape {traced.aval}."
        )
        general = ("lax.dynamic_slice_in_dim(x, start, size)", "only the start is traced")
        ways = sliced(traced.at, traced.arguments, ndim) or [general]
        return cls._of(rule, ways=[*ways, *static_ways(traced)], traced=traced)


class UnsupportedError(ValueError, NotImplementedError):
    """What is asked for is not there: a ValueError, and a NotImplementedError.

    A mode of a name that none has, or the derivative of an operation that has none.  NumPy raises
    ValueError, JAX one or the other; clauses written for either catch this one.

    Fails:

    ```python
    # raises: UnsupportedError
    import hloom.numpy as jnp

    jnp.pad(jnp.arange(3), 1, mode="mirror")
    ```

    Works:

    ```python
    import hloom.numpy as jnp

    jnp.pad(jnp.arange(3), 1, mode="reflect")
    ```
    """


class DonatedTwiceError(ValueError, RuntimeError):
    """An array was given to a function twice, and is donated in one of the places.

    Its memory would be written over while it is still read.  A ValueError, and a RuntimeError as in
    JAX.

    Fails:

    ```python
    # raises: DonatedTwiceError
    import hloom
    import hloom.numpy as jnp

    add = hloom.jit(lambda x, y: x + y, donate_argnums=0)
    x = jnp.ones(3)
    add(x, x)
    ```

    Works: donate a copy.

    ```python
    import hloom
    import hloom.numpy as jnp

    add = hloom.jit(lambda x, y: x + y, donate_argnums=0)
    x = jnp.ones(3)
    add(x.copy(), x)
    ```
    """


class TangentError(TypeError, ValueError):
    """A tangent or cotangent that is not of its value's type.

    Along a float or complex value a tangent has the value's own shape and dtype.  Along an integer
    or a bool there is no derivative: its tangent has the value's shape and the dtype `float0`,
    which holds nothing.  JAX raises TypeError for some of these and ValueError for others; this is
    both.

    Fails:

    ```python
    # raises: TangentError
    import hloom

    hloom.jvp(lambda n, x: n * x, (3, 2.0), (1, 1.0))
    ```

    Works: no tangent for the integer, or a float in its place.

    ```python
    import numpy as np
    import hloom

    still = np.zeros((), hloom.float0)
    hloom.jvp(lambda n, x: n * x, (3, 2.0), (still, 1.0))
    hloom.jvp(lambda x: 3 * x, (2.0,), (1.0,))
    hloom.jvp(lambda n, x: n * x, (3.0, 2.0), (1.0, 1.0))
    ```
    """


# Several places ask whether an error is one of these, and which.
KINDS = (
    ShapeError,
    ArgumentError,
    IndexKindError,
    UnsupportedError,
    TracedSliceError,
    DonatedTwiceError,
    TangentError,
)
