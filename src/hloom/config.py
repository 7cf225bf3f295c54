"""Options, and the context every hloom call runs in.

`Config` is one immutable, interned set of option values, so that a table of compiled programs can
be kept per configuration and found by identity.  `Context` pairs it with the trace in force.  One
context variable, `current`, holds the context: per thread and per async task.
"""

from __future__ import annotations

import copyreg
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


def _one_of(*values: str) -> Callable[[str, Any], Any]:
    def check(name: str, value: Any) -> Any:
        if value not in values:
            raise ValueError(
                f"config option {name} takes one of {', '.join(map(repr, values))}; got {value!r}"
            )
        return value

    return check


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, int)) or value not in (0, 1):
        raise TypeError(f"config option {name} takes True or False; got {value!r}")
    return bool(value)


# name: (default, check, what it does)
OPTIONS: dict[str, tuple[Any, Callable[[str, Any], Any], str]] = {
    "enable_x64": (False, _flag, "64-bit integers and floats exist; off, they become 32-bit"),
    "engine": ("xla", _one_of("xla", "numpy", "reference"), "who evaluates primitives"),
    "exact": (
        False,
        _flag,
        "compile so that float results equal NumPy's op by op (no fused multiply-add)",
    ),
    "numpy_dtype_promotion": (
        "standard",
        _one_of("standard", "strict"),
        "strict: mixed dtypes are an error",
    ),
    "numpy_rank_promotion": (
        "allow",
        _one_of("allow", "warn", "raise"),
        "what broadcasting of ranks does",
    ),
    "disable_jit": (False, _flag, "run jitted functions as plain Python"),
    "tracebacks": (
        "auto",
        _one_of("auto", "on", "off"),
        "whether jaxlib records a traceback per array",
    ),
    "traceback_filtering": (
        "auto",
        _one_of("auto", "off", "tracebackhide", "remove_frames", "quiet_remove_frames"),
        "which of hloom's own frames an error shows: auto none, off all",
    ),
}


class Config:
    """One set of option values; interned, so equal configurations are the same object."""

    __slots__ = (*OPTIONS, "_values")
    _interned: dict[tuple[Any, ...], Config] = {}

    enable_x64: bool
    engine: str
    exact: bool
    numpy_dtype_promotion: str
    numpy_rank_promotion: str
    disable_jit: bool
    tracebacks: str
    traceback_filtering: str
    _values: tuple[Any, ...]

    def __new__(cls, values: tuple[Any, ...]) -> Config:
        found = cls._interned.get(values)
        if found is None:
            found = object.__new__(cls)
            for name, value in zip(OPTIONS, values):
                setattr(found, name, value)
            found._values = values
            found = cls._interned.setdefault(values, found)
        return found

    def replace(self, **changes: Any) -> Config:
        """The configuration that differs from this one by `changes`."""
        return Config(tuple(changes.get(name, value) for name, value in zip(OPTIONS, self._values)))

    def __repr__(self) -> str:
        return "Config(" + ", ".join(f"{n}={v!r}" for n, v in zip(OPTIONS, self._values)) + ")"


class Context:
    """The trace that interprets primitives now, and the options in force.

    `key` is what tables of compiled eager programs are kept by: the configuration while primitives
    are evaluated, None while they are being traced, so that no table ever answers during a trace.
    """

    __slots__ = ("trace", "config", "key")

    def __init__(self, trace: Any, config: Config):
        self.trace = trace
        self.config = config
        self.key = config if trace is BOTTOM[0] else None


BOTTOM: list[Any] = [None]  # the trace below all others; core.trace puts `EAGER` here


def _from_environment(name: str) -> Any:
    default, check, _ = OPTIONS[name]
    text = os.environ.get(f"HLOOM_{name.upper()}")
    if text is None:
        return default
    if isinstance(default, bool):
        return check(
            name,
            {"1": True, "true": True, "0": False, "false": False, "": False}.get(
                text.lower(), text
            ),
        )
    return check(name, text)


HOME = Context(None, Config(tuple(map(_from_environment, OPTIONS))))
current: ContextVar[Context] = ContextVar("hloom_context", default=HOME)


def _current() -> ContextVar[Context]:
    return current


def _reduce(variable: ContextVar[Any]) -> tuple[Any, ...]:
    """How a context variable is pickled: ours by name, others, as ever, not at all.

    A jitted function looks at `current`, and cloudpickle writes functions with all they look at.
    """
    if variable is not current:
        raise TypeError("cannot pickle '_contextvars.ContextVar' object")
    return _current, ()


copyreg.pickle(ContextVar, _reduce)  # type: ignore[arg-type]


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
        """Set an option for the whole process (and for the `with` block this call stands in).

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
