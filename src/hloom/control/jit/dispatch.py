"""`jit`: trace a function once per signature, run its executable from then on.

A call goes one of two ways.  *Fast*: arguments that are plain arrays, given by position, are looked
up by their types alone.  *General*: pytrees, Python scalars, NumPy arrays, keywords and static
arguments are sorted out first; this way also traces and compiles what is met for the first time,
and answers when `jit` is called inside another transformation.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import itemgetter
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from hloom import errors, tree
from hloom.control.jit.primitive import compiled, jit_p
from hloom.core.array import Array
from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.jaxpr import Jaxpr, eval_jaxpr
from hloom.core.operands import abstract, as_array, is_abstract
from hloom.core.record import trace_to_jaxpr
from hloom.core.support import executable, float0, results, source
from hloom.core.support.signature import (
    LeafNames,
    argument_name,
    check_function,
    leaf_paths,
    parameters,
)
from hloom.core.support.tables import Table, Tables
from hloom.core.trace import EAGER, Origin, Trace, Tracer

LEAF = tree.structure(0)  # the structure of one array
MANY = 8  # results of one executable from which a token pays: to wait once for all
_NUMBERS = (bool, int, float, complex, np.generic)  # what may be static, and be hashed
_tracing = RLock()  # one trace-and-compile at a time: a function is compiled once, whoever calls


class CacheInfo(NamedTuple):
    """What `f.cache_info()` tells: how often `f` was traced, executables cached, and the bound."""

    traces: int
    currsize: int
    maxsize: int


class Signature(NamedTuple):
    """A call without its values: structure and types of the dynamic arguments, the static ones."""

    treedef: Any
    avals: tuple[ShapedArray, ...]
    statics: tuple[Any, ...]


class TracedCall(NamedTuple):
    """What tracing one signature gave."""

    jaxpr: Jaxpr
    captured: list[Array]
    out_tree: Any


class Entry(NamedTuple):
    """A compiled signature, ready to run: the fast way's whole knowledge."""

    run: Callable[[list[Any]], Any]  # of the leaves' buffers
    captured: list[Any]
    write: Callable[[list[Array]], Any] | None  # None: the only result is returned as it is
    donated: tuple[int, ...] = ()  # leaves whose memory the executable may take

    @classmethod
    def of(cls, compiled: executable.Executable, call: TracedCall, donated: Any) -> Entry:
        """The entry of what `call` was compiled to."""
        captured = [x._buf for x in call.captured]
        if call.out_tree == LEAF:
            return cls(results.one(compiled, captured), captured, None, donated)
        how = results.together if len(compiled.outs) >= MANY else results.many
        write = partial(tree.unflatten, call.out_tree)
        return cls(how(compiled, captured), captured, write, donated)


class DictReader(NamedTuple):
    """Reads the leaves of a flat dict with known keys: 0.6 us for 50, a tenth of a flattening."""

    size: int
    keys: tuple[str, ...]
    read: Callable[[dict[str, Any]], tuple[Any, ...]]


def _is_flat_dict(x: Any) -> bool:
    return (
        x.__class__ is dict and len(x) > 1
        and all(k.__class__ is str for k in x) and all(isinstance(v, Array) for v in x.values())
    )  # fmt: skip


def dict_reader(x: dict[str, Any]) -> DictReader:
    """The reader of dicts with the keys of this one."""
    keys = tuple(sorted(x))
    return DictReader(len(keys), keys, itemgetter(*keys))


class Unknown(Tracer):
    """A value of which only the type is known: `eval_shape` needs no more."""

    __slots__ = ()

    def leaked(self) -> Any:
        return TypeError(
            f"a jitted function was given the type {self.aval} in place of an array, which only "
            "eval_shape can do with. Pass an array, such as jnp.zeros(x.shape, x.dtype)."
        )


def is_type_alone(x: Any) -> bool:
    """Whether `x` has a type but no values, as a ShapeDtypeStruct."""
    return is_abstract(x) and not isinstance(x, (Array, np.ndarray, np.generic))


def unknown(x: Any) -> Unknown:
    """A placeholder for `x` in a trace, of which only the type is known."""
    made: Unknown = object.__new__(Unknown)
    made.owner = Trace(Origin("eval_shape"))
    made.aval = abstract(x)
    return made


class Jitted:
    """The state behind one jitted function."""

    def __init__(
        self, fun: Callable[..., Any], static_argnums: Any, static_argnames: Any,
        donate_argnums: Any, donate_argnames: Any, inline: bool, transform: str = "jit",
    ):  # fmt: skip
        check_function("jit", fun)
        self.fun = fun
        self.name = str(getattr(fun, "__name__", None) or type(fun).__name__)
        self.inline = inline
        self.transform = transform  # the public function that traces
        self.static_argnums, self.static_argnames = _resolve(
            fun, "static", static_argnums, static_argnames
        )
        self.donate_argnums, self.donate_argnames = _resolve(
            fun, "donate", donate_argnums, donate_argnames
        )
        both = self.static_argnames & self.donate_argnames
        if both or self.static_argnums & self.donate_argnums:
            raise ValueError(
                f"jit({self.name}): an argument can't be static and donated: "
                f"{sorted(both) or 'position'}"
            )
        self.donates = bool(self.donate_argnums or self.donate_argnames)
        self.plain = not (self.donates or self.static_argnums or self.static_argnames)
        self.fast = Tables()
        self.dicts = Tables()
        self.reader: DictReader | None = None
        self.entries = Tables()
        self.traced = Table()
        self.traces = 0

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the function and how it was jitted; the tables go empty."""
        return vars(self) | {"traces": 0, "reader": None}

    # ---- the call -----------------------------------------------------------------------------
    def general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call in its full generality."""
        context = current.get()
        if context.config.disable_jit:
            return self.fun(*args, **kwargs)
        dynamic, statics, positions = (
            ((args, kwargs), (), None) if self.plain else self.split(args, kwargs)
        )
        leaves, treedef = tree.flatten(dynamic)
        try:
            avals = tuple([x.aval for x in leaves])
        except AttributeError:  # numbers and NumPy arrays among them
            leaves, treedef = self.made(leaves, treedef, dynamic, positions)
            avals = tuple([x.aval for x in leaves])
        signature = Signature(treedef, avals, statics)
        if context.trace is not EAGER:
            return self.apply_traced(signature, args, kwargs, leaves)
        entry = self.known(self.entries[context.key], signature)
        if entry is None:
            for x in leaves:
                x._buf  # noqa: B018  (a leaked tracer says so here)
            with _tracing:
                entry = self.entries[context.key].get(signature) or self.compile(
                    signature, args, kwargs, leaves
                )
        if self.donates:
            leaves = self.donatable(leaves, dynamic)
            self.check_donated(entry, leaves, treedef, positions)
        return self.run(entry, leaves)

    def known(self, table: Any, key: Any) -> Any:
        """What a table holds for a call; ValueError where a static argument can't be compared."""
        try:
            return table.get(key)
        except Exception as error:  # of an __eq__ of the user's
            raise ValueError(
                f"jit({self.name}): static arguments are compared with those of earlier calls, "
                f"and an __eq__ raised {type(error).__name__}: {error}. It must answer for every "
                "value; for arrays write `return self is other`."
            ) from error

    def run(self, entry: Entry, leaves: Sequence[Array]) -> Any:
        """Execute, and give the results the shape the function returned them in."""
        buffers = [x._buf for x in leaves]
        try:
            found = entry.run(buffers)
        except RuntimeError as error:
            raise executable.explain(error, self.name, leaves, entry.captured) from None
        return found if entry.write is None else entry.write(found)

    def apply_traced(
        self, signature: Signature, args: Any, kwargs: Any, leaves: list[Array]
    ) -> Any:
        """A call inside another transformation: one `jit` equation, or its contents inlined."""
        call = self.trace(signature, args, kwargs)
        operands = [*call.captured, *leaves]
        if self.inline:
            outs = eval_jaxpr(call.jaxpr, operands)
        else:
            outs = jit_p.apply(operands, {"name": self.name, "jaxpr": call.jaxpr})
        return tree.unflatten(call.out_tree, outs)

    # ---- first time ---------------------------------------------------------------------------
    def trace(self, signature: Signature, args: Any, kwargs: Any) -> TracedCall:
        """Trace the function for this signature, or recall it."""
        key = (current.get().config, signature)
        found: TracedCall | None = self.known(self.traced, key)
        if found is not None:
            return found
        out_tree: Any = None

        def flat(*leaves: Any) -> list[Any]:
            nonlocal out_tree
            out = self.call(signature.treedef, leaves, args, kwargs)
            outs, out_tree = float0.flatten(out)
            return [self.result(x, out_tree, i) for i, x in enumerate(outs)]

        static = self.static_in(args)
        positions = [i for i in range(len(args)) if i not in static]
        numbers = [isinstance(x, _NUMBERS) for x in float0.flatten(self.split(args, kwargs)[0])[0]]
        names = LeafNames(self.fun, signature.treedef, positions, numbers)
        origin = Origin(self.transform, self.fun, names)
        self.traces += 1
        jaxpr, captured = trace_to_jaxpr(flat, signature.avals, origin)
        found = TracedCall(jaxpr, captured, out_tree)
        if not any(isinstance(x, Tracer) for x in captured):
            self.traced.store(key, found)
        return found

    def call(self, treedef: Any, leaves: Sequence[Any], args: Any, kwargs: Any) -> Any:
        """Call the function with tracers in place of the dynamic arguments."""
        given_args, given_kwargs = tree.unflatten(treedef, leaves)
        given = iter(given_args)
        static = self.static_in(args)
        args = [x if i in static else next(given) for i, x in enumerate(args)]
        kwargs = {k: v for k, v in kwargs.items() if k in self.static_argnames} | given_kwargs
        return self.fun(*args, **kwargs)

    def result(self, x: Any, out_tree: Any, index: int) -> Array:
        try:
            return as_array(x)
        except TypeError as error:
            path = tree.keystr(leaf_paths(out_tree)[index])
            raise TypeError(
                f"jit({self.name}) must return arrays; its result{path} is {error}. Return it "
                "from outside the jitted function."
            ) from None

    def compile(self, signature: Signature, args: Any, kwargs: Any, leaves: list[Array]) -> Entry:
        """Trace and compile for this signature, and remember it for both ways of calling."""
        call = self.trace(signature, args, kwargs)
        options: dict[str, Any] = {}
        donated = tuple(self.donated_leaves(args, kwargs)) if self.donates else ()
        if donated:
            options["donated"] = tuple([len(call.captured) + i for i in donated])
            self.warn_of_unusable(donated, signature, call.jaxpr)
        entry = Entry.of(compiled(call.jaxpr, self.name, **options), call, donated)
        key = current.get().key
        self.entries[key].store(signature, entry)
        if self.plain and not kwargs:
            if all(isinstance(x, Array) for x in args):
                self.fast[key].store(signature.avals, entry)
            elif len(args) == 1 and _is_flat_dict(args[0]):
                if self.reader is None or self.reader.keys != tuple(sorted(args[0])):
                    self.dicts.clear()
                    self.reader = dict_reader(args[0])
                self.dicts[key].store(signature.avals, entry)
        return entry

    def clear(self) -> None:
        """Forget what was traced and compiled."""
        self.fast.clear()
        self.dicts.clear()
        self.entries.clear()
        self.traced.clear()

    # ---- sorting arguments --------------------------------------------------------------------
    def split(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, tuple[Any, ...], Any]:
        """Dynamic arguments, a hashable key of the static ones, and the dynamic positions."""
        if not self.static_argnums and not self.static_argnames:
            return (args, kwargs), (), None
        static = self.static_in(args)
        positions = [i for i in range(len(args)) if i not in static]
        statics = [
            (i, *self.static_key(argument_name(self.fun, i), args[i]))
            for i in range(len(args))
            if i not in positions
        ]
        statics += [
            (k, *self.static_key(k, v))
            for k, v in sorted(kwargs.items())
            if k in self.static_argnames
        ]
        dynamic = {k: v for k, v in kwargs.items() if k not in self.static_argnames}
        return (tuple([args[i] for i in positions]), dynamic), tuple(statics), positions

    def static_in(self, args: Sequence[Any]) -> frozenset[int]:
        """The positions of the static ones among the arguments of a call."""
        return _among(args, "static", self.static_argnums)

    def static_key(self, name: str, value: Any) -> tuple[Any, Any]:
        """A static argument's key: True, 1 and 1.0 differ, and so do 0.0 and -0.0."""
        try:
            hash(value)
        except TypeError:
            raise errors.unhashable_static(self.name, name, value, at=source.here()) from None
        return value.__class__, value.hex() if value.__class__ is float else value

    def made(
        self, leaves: list[Any], treedef: Any, dynamic: Any, positions: Any
    ) -> tuple[list[Any], Any]:
        """The leaves as Arrays, and their structure, to which float0 arrays belong."""
        try:
            return self.arrays(leaves, treedef, positions), treedef
        except TypeError:
            if not any(float0.is_float0(x) or is_type_alone(x) for x in leaves):
                raise
        leaves, treedef = float0.flatten(dynamic)
        if current.get().trace is not EAGER:
            leaves = [unknown(x) if is_type_alone(x) else x for x in leaves]
        return self.arrays(leaves, treedef, positions), treedef

    def arrays(
        self,
        leaves: list[Any],
        treedef: Any,
        positions: Any,
        keep: Callable[[Any], bool] | None = None,
    ) -> list[Any]:
        """Every dynamic leaf as an Array, but for those that `keep` says may stay."""
        made = leaves
        for i, x in enumerate(leaves):
            if not isinstance(x, Array) and not (keep is not None and keep(x)):
                if made is leaves:
                    made = list(leaves)
                try:
                    made[i] = as_array(x)
                except OverflowError as error:
                    name = LeafNames(self.fun, treedef, positions)[i]
                    raise OverflowError(f"jit({self.name}), argument `{name}`: {error}") from None
                except TypeError as error:
                    name = LeafNames(self.fun, treedef, positions)[i]
                    root = name.split("[")[0].split(".")[0]
                    called = self.name if self.name.isidentifier() else "f"
                    static = f", or static: jit({called}, static_argnames={root!r})"
                    if name != root or x.__hash__ is None:
                        static = ""  # a list or a dict can't be
                    raise TypeError(
                        f"jit({self.name}): argument `{name}` is {error}. Make it an array{static}."
                    ) from None
        return made

    def donated_leaves(self, args: Any, kwargs: Any) -> list[int]:
        """Positions of the leaves whose memory the call may take."""
        flags: list[bool] = []
        static, donated = self.static_in(args), _among(args, "donate", self.donate_argnums)
        for i, x in enumerate(args):
            if i not in static:
                flags += [i in donated] * len(float0.flatten(x)[0])
        for name in sorted(kwargs):
            if name not in self.static_argnames:
                flags += [name in self.donate_argnames] * len(float0.flatten(kwargs[name])[0])
        return [i for i, flag in enumerate(flags) if flag]

    def donatable(self, leaves: list[Array], dynamic: Any) -> list[Array]:
        """Copies of what hloom made of Python scalars: those buffers are shared."""
        given, _ = float0.flatten(dynamic)
        return [x if isinstance(g, Array) else x.__deepcopy__(None) for x, g in zip(leaves, given)]

    def warn_of_unusable(self, donated: Sequence[int], signature: Signature, jaxpr: Jaxpr) -> None:
        """A UserWarning for donated memory that no result fits into."""
        free = [_bytes(x.aval) for x in jaxpr.outputs]
        read = {id(x) for equation in jaxpr.equations for x in equation.inputs}
        first = len(jaxpr.inputs) - len(signature.avals)
        unusable = []
        for i in donated:
            if id(jaxpr.inputs[first + i]) not in read:
                continue
            if _bytes(signature.avals[i]) in free:
                free.remove(_bytes(signature.avals[i]))
            else:
                unusable.append(str(signature.avals[i]))
        if unusable:
            at = source.here() or source.Location("<unknown>", 1, 1, self.name)
            text = (
                f"Some donated buffers were not usable: {', '.join(unusable)}. No result of "
                f"jit({self.name}) is as large; leave them out of donate_argnums."
            )
            warnings.warn_explicit(text, UserWarning, at.file, at.line)

    def check_donated(
        self, entry: Entry, leaves: Sequence[Array], treedef: Any, positions: Any
    ) -> None:
        """Raise DonatedTwiceError for a donated array that the call also reads by another name."""
        names = LeafNames(self.fun, treedef, positions)
        captured = set(map(id, entry.captured))
        places: dict[int, int] = {}
        for i, x in enumerate(leaves):
            first = places.setdefault(id(x._buf), i)
            if id(x._buf) in captured and i in entry.donated:
                same = f"argument `{names[i]}` is an array that the function reads anyway"
            elif first != i and not {first, i}.isdisjoint(entry.donated):
                same = f"arguments `{names[first]}` and `{names[i]}` are the same array"
            else:
                continue
            donated = names[i if i in entry.donated else first]
            raise errors.DonatedTwiceError(
                f"jit({self.name}): {same}, {x.aval}, and `{donated}` is donated: the result may "
                "be "
                f"written over it. Pass a copy: jnp.copy({donated})."
            )


def _bytes(aval: ShapedArray) -> int:
    return -(-aval.size * aval.bits // 8)


def _among(args: Sequence[Any], what: str, argnums: frozenset[int]) -> frozenset[int]:
    """Positions in a call; negative ones, which `*args` have kept, count from its last argument."""
    if not argnums or min(argnums) >= 0:
        return argnums
    if min(argnums) < -len(args):
        raise ValueError(
            f"jit: {what}_argnums has {min(argnums)}, but the call has {len(args)} positional "
            "arguments"
        )
    return frozenset(n + len(args) if n < 0 else n for n in argnums)


def _members(given: Any) -> set[Any]:
    """What one of them is given: nothing, one, or several."""
    if given is None:
        return set()
    return set(given) if isinstance(given, Iterable) and not isinstance(given, str) else {given}


def _resolve(
    fun: Any, what: str, argnums: Any, argnames: Any
) -> tuple[frozenset[int], frozenset[str]]:
    """`static_argnums` and `static_argnames` (or donate), checked; one alone gives the other."""
    nums, names = _members(argnums), _members(argnames)
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in nums):
        raise TypeError(f"jit takes {what}_argnums as an int or a tuple of ints; got {argnums!r}")
    if not all(isinstance(n, str) for n in names):
        raise TypeError(
            f"jit takes {what}_argnames as a string or a tuple of strings; got {argnames!r}"
        )
    known = parameters(fun)
    positional = [p.name for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    open_ended = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in known) or not known
    for n in list(nums):
        if not open_ended and not -len(positional) <= n < len(positional):
            raise ValueError(
                f"jit: {what}_argnums={argnums!r} has {n}, but the function takes "
                f"{len(positional)} positional arguments: {', '.join(positional)}"
            )
        if n < 0 and not open_ended:  # of *args only a call knows how many there are
            nums.remove(n)
            nums.add(n + len(positional))
    any_keyword = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known) or not known
    for name in names:
        if not any_keyword and name not in [p.name for p in known]:
            raise ValueError(
                f"jit: {what}_argnames={argnames!r} has {name!r}, but the function's arguments are "
                f"{', '.join(p.name for p in known)}"
            )
    if argnums is None:
        nums |= {i for i, name in enumerate(positional) if name in names}
    if argnames is None:
        names |= {positional[i] for i in nums if 0 <= i < len(positional)}
    return frozenset(nums), frozenset(names)
