"""`jit`, the decorator: an entry of fixed arity in front of a function's `Jitted` state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, update_wrapper
from typing import Any

from hloom import tree
from hloom.control.devices import check_device
from hloom.control.jit import stages
from hloom.control.jit.dispatch import CacheInfo, Jitted
from hloom.core.array import Array
from hloom.core.context import current
from hloom.core.support import executable
from hloom.core.support.calls import told
from hloom.core.support.frames import hide
from hloom.core.support.signature import parameters
from hloom.core.support.tables import CAPACITY

_missing: Any = object()


# ---- entries: one for each small number of arguments, since *args costs a third of a microsecond -
def _entry(self: Jitted) -> Callable[..., Any]:
    fast, general, get = self.fast, self.general, current.get

    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            try:
                entry = fast[get().key][tuple([x.aval for x in args])]
            except (KeyError, AttributeError):
                pass
            else:
                return self.run(entry, args)
        try:
            return general(args, kwargs)
        except Exception as error:
            hide(error)
            raise

    return call


def _entry_1(self: Jitted) -> Callable[..., Any]:
    fast, general, get = self.fast, self.general, current.get

    def call(a: Any = _missing, /, *rest: Any, **kwargs: Any) -> Any:
        if a.__class__ is Array and not rest and not kwargs:
            try:
                run, captured, write, _ = fast[get().key][(a.aval,)]
            except KeyError:
                pass
            else:
                if write is None:
                    try:
                        return run([a._buf])
                    except RuntimeError as error:
                        raise executable.explain(error, self.name, (a,), captured) from None
        elif a.__class__ is dict and not rest and not kwargs and self.reader is not None:
            size, _, read = self.reader
            try:
                if len(a) == size:
                    leaves = read(a)
                    return self.run(self.dicts[get().key][tuple([x.aval for x in leaves])], leaves)
            except (KeyError, AttributeError):
                pass
        try:
            return general(() if a is _missing else (a, *rest), kwargs)
        except Exception as error:
            hide(error)
            raise

    return call


def _entry_2(self: Jitted) -> Callable[..., Any]:
    fast, general, get = self.fast, self.general, current.get

    def call(a: Any = _missing, b: Any = _missing, /, *rest: Any, **kwargs: Any) -> Any:
        if a.__class__ is Array and b.__class__ is Array and not rest and not kwargs:
            try:
                run, captured, write, _ = fast[get().key][a.aval, b.aval]
            except KeyError:
                pass
            else:
                if write is None:
                    try:
                        return run([a._buf, b._buf])
                    except RuntimeError as error:
                        raise executable.explain(error, self.name, (a, b), captured) from None
        args = () if a is _missing else (a,) if b is _missing else (a, b, *rest)
        try:
            return general(args, kwargs)
        except Exception as error:
            hide(error)
            raise

    return call


_ENTRIES = {1: _entry_1, 2: _entry_2}


@told
def jit(
    fun: Callable[..., Any] = _missing,
    *,
    static_argnums: int | Iterable[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Iterable[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: bool = False,
    in_shardings: Any = None,
    out_shardings: Any = None,
    compiler_options: dict[str, Any] | None = None,
) -> Any:
    """Compile a function of arrays: traced once for each signature, then run as one executable.

    Arguments and results are pytrees of arrays and numbers.  Arguments named by `static_argnums` or
    `static_argnames` stay Python values; they must be hashable; each value has its executable.
    One of the two alone gives the other; of both, positions and keywords are as they say.  Donated
    arguments give their memory to the results and can't be used afterwards; those that no result is
    as large as are named by a UserWarning.  `inline`
    writes the contents into a caller's trace instead of one `jit` equation.  The result has
    `lower`, `trace`, `eval_shape`, `cache_info` and `clear_cache`.

    Raises TypeError for arguments that are not arrays, ValueError for positions or names that the
    function does not have.  `keep_unused`, `device` and `backend` are accepted for programs written
    for JAX and change nothing here; so are shardings, which must name the device that there is, and
    `compiler_options` that are empty.

    >>> @hloom.jit
    ... def f(x, y):
    ...     return x * y + 1
    >>> f(jnp.arange(3), 2)
    Array([1, 3, 5], dtype=int32)
    """
    if fun is _missing:
        options = {
            "static_argnums": static_argnums, "static_argnames": static_argnames,
            "donate_argnums": donate_argnums, "donate_argnames": donate_argnames, "inline": inline,
            "in_shardings": in_shardings, "out_shardings": out_shardings,
            "compiler_options": compiler_options,
        }  # fmt: skip
        return partial(jit, **options)
    _check_placement(in_shardings, out_shardings, compiler_options)
    state = Jitted(fun, static_argnums, static_argnames, donate_argnums, donate_argnames, inline)
    arity = 0 if state.donates or state.static_argnums or state.static_argnames else _arity(fun)
    call: Any = _ENTRIES.get(arity, _entry)(state)
    update_wrapper(call, fun)
    call.jitted = state
    call.cache_info = lambda: CacheInfo(
        state.traces, sum(map(len, state.entries.values())), CAPACITY
    )
    call.clear_cache = state.clear
    return stages.attach(call, state)


def _check_placement(in_shardings: Any, out_shardings: Any, compiler_options: Any) -> None:
    """Refuse what would have to change the program: there is one device, and one set of options."""
    for name, shardings in (("in_shardings", in_shardings), ("out_shardings", out_shardings)):
        for sharding in tree.leaves(shardings):
            check_device(f"jit: {name}", sharding)
    if compiler_options:
        raise NotImplementedError(
            f"jit: compiler_options={compiler_options!r:.80} can't be passed to XLA; leave them "
            "out. For results that equal NumPy's operation by operation: with hloom.exact()."
        )


def _arity(fun: Any) -> int:
    """How many positional parameters without defaults the function has."""
    return len(
        [p for p in parameters(fun) if p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD]
    )
