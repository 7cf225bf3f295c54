"""The options as a user sets them: `hloom.config`, and a `with` statement for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hloom.core.context import HOME, OPTIONS, Context, current


def canonical_option(name: str, value: Any) -> tuple[str, Any]:
    """Check an option's name and value; JAX's spelling with a `jax_` prefix is accepted too."""
    plain = name.removeprefix("jax_")
    if plain not in OPTIONS:
        raise AttributeError(f"config has no option {name!r}; it has {', '.join(OPTIONS)}")
    return plain, OPTIONS[plain][1](plain, value)


class Options:
    """The options as attributes: `hloom.config.enable_x64` reads the value in force here and now.

    >>> hloom.config.engine
    'xla'
    """

    def __getattr__(self, name: str) -> Any:
        plain = name.removeprefix("jax_")
        if plain not in OPTIONS:
            raise AttributeError(f"config has no option {name!r}; it has {', '.join(OPTIONS)}")
        return getattr(current.get().config, plain)

    @property
    def x64_enabled(self) -> bool:
        """Whether 64-bit types are on, here and now: JAX's other name for `enable_x64`."""
        return bool(current.get().config.enable_x64)

    def __setattr__(self, name: str, value: Any) -> None:
        self.update(name, value)

    def update(self, name: str, value: Any) -> None:
        """Set an option for the whole process (and for the `with` block around this call).

        Raises AttributeError for an unknown option, TypeError or ValueError for a wrong value.

        >>> hloom.config.update("numpy_dtype_promotion", "standard")
        """
        plain, value = canonical_option(name, value)
        HOME.config = HOME.config.replace(**{plain: value})
        if HOME.key is not None:
            HOME.key = HOME.config
        context = current.get()
        if context is not HOME:
            current.set(Context(context.trace, context.config.replace(**{plain: value})))

    def __repr__(self) -> str:
        config = current.get().config
        return "\n".join(
            f"{n} = {getattr(config, n)!r}  # {about}" for n, (_, _, about) in OPTIONS.items()
        )


config = Options()


@contextmanager
def options(**changes: Any) -> Iterator[None]:
    """Run the body with other option values, in this thread or task only.

    `enable_x64`, `engine` and their like are this for one option.

    >>> with hloom.enable_x64():
    ...     jnp.arange(3).dtype
    dtype('int64')
    """
    checked = dict(canonical_option(name, value) for name, value in changes.items())
    context = current.get()
    token = current.set(Context(context.trace, context.config.replace(**checked)))
    try:
        yield
    finally:
        current.reset(token)


def enable_x64(new_val: bool = True) -> Any:
    """Turn 64-bit types on (or off) for the body of a `with` statement.

    >>> with hloom.enable_x64():
    ...     jnp.zeros(2).dtype
    dtype('float64')
    """
    return options(enable_x64=new_val)


def engine(name: str) -> Any:
    """Evaluate primitives with another engine in the body of a `with` statement.

    `"xla"` compiles, `"numpy"` runs the primitives' NumPy rules, `"reference"` runs the StableHLO
    reference interpreter.  Raises ValueError for another name.

    >>> with hloom.engine("numpy"):
    ...     jnp.arange(3) + 1
    Array([1, 2, 3], dtype=int32)
    """
    return options(engine=name)


def numpy_dtype_promotion(new_val: str) -> Any:
    """Choose `"standard"` or `"strict"` dtype promotion in the body of a `with` statement.

    >>> with hloom.numpy_dtype_promotion("strict"):
    ...     jnp.ones(2) + 1.0
    Array([2., 2.], dtype=float32)
    """
    return options(numpy_dtype_promotion=new_val)


def exact(on: bool = True) -> Any:
    """Compile so that float results equal NumPy's operation by operation, in the body of a `with`.

    XLA otherwise contracts `a * b + c` to one rounding.  For checking, not for speed: nothing is
    fused, so a chain of cheap operations on many elements takes up to 20 times as long.

    >>> x = jnp.float32(1.1)
    >>> with hloom.exact():
    ...     y = hloom.jit(lambda x: x * x - x)(x)
    >>> bool(y == np.float32(1.1) * np.float32(1.1) - np.float32(1.1))
    True
    """
    return options(exact=on)


def numpy_rank_promotion(new_val: str) -> Any:
    """Choose what broadcasting arrays of different rank does in the body of a `with` statement.

    `"allow"` is silent, `"warn"` warns, `"raise"` raises ValueError.

    >>> with hloom.numpy_rank_promotion("allow"):
    ...     jnp.ones((2, 2)) + jnp.ones(2)
    Array([[2., 2.],
           [2., 2.]], dtype=float32)
    """
    return options(numpy_rank_promotion=new_val)


def disable_jit(disable: bool = True) -> Any:
    """Run jitted functions as plain Python in the body of a `with` statement, to debug them.

    >>> with hloom.disable_jit():
    ...     hloom.jit(lambda x: print(x) or x + 1)(jnp.arange(2))
    [0 1]
    Array([1, 2], dtype=int32)
    """
    return options(disable_jit=disable)
