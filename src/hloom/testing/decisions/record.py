"""`Decision`: one edge case of arithmetic, what others give, and how hloom gives its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

import hloom.numpy as jnp
from hloom import engines, lax
from hloom.config import options
from hloom.control.jit.decorator import jit
from hloom.core.aval import ShapedArray
from hloom.engines import jaxlib_compat
from hloom.ops.common.expression import Term, chlo
from hloom.stablehlo.builder import Function, Module
from hloom.stablehlo.lower import Lowering

NDArray = np.ndarray[Any, Any]

ENGINES = ("xla", "reference", "numpy")
NAMES = ("x", "y", "z")  # what a program calls its operands
WHOLE = "XLA, in one program"  # the key of departures that only a `jit` makes
EXACT = "XLA, in one exact program"  # and that are there under `hloom.exact()` too

SCOPE = {"jnp": jnp, "lax": lax, "np": np, "ml_dtypes": ml_dtypes}


class ByVersion(NamedTuple):
    """What jaxlib 0.10 gives, and what 0.12 does."""

    before: NDArray | str
    since: NDArray | str


class Plain(NamedTuple):
    """What one would write who knew nothing: its name, and a formula of `Term`s."""

    spelled: str
    formula: Callable[..., Any]


def op(name: str) -> Plain:
    """A StableHLO operation of one type."""
    return Plain(f"`stablehlo.{name}`", lambda x, *others: x.apply(name, *others))


def chlo_op(name: str) -> Plain:
    """An operation of the CHLO dialect."""
    return Plain(f"`chlo.{name}`", lambda *xs: chlo(name, *xs))


class Departure(NamedTuple):
    """What an engine gives on purpose, other than hloom's answer, and why it may."""

    gives: NDArray
    why: str


#: An array is what was measured; a text says why there is none.
Said = NDArray | str | ByVersion

SAME = "the same"  # as hloom's answer


@dataclass(frozen=True, eq=False)
class Decision:
    """One edge case of arithmetic.

    - `claim` is what hloom does, in words; it names the decision.
    - `program` is an expression of `x`, `y`, `z`, which are `operands`; `want` is its value on
      every engine, to the bit, or to `ulp` units of its precision.
    - `numpy` is what NumPy gives, for the expression `asks` where there is one.
    - `plain` writes the StableHLO that one would write who knew nothing; `xla` and `reference` are
      what it gives there.  `settings`: how XLA compiles it, as hloom does for `jit` ("default") or
      eagerly ("fast"), or as it does by itself ("stock").
    - `raises` is the error that there is instead of a value.
    - `lowering` is the function or setting that makes the difference, "" if there is none: then
      the plain operation does as hloom decided on every engine, and a test checks that.
    - `departures`: the engines that give something else on purpose.
    - `shown` replaces operands too long to print.  `rows`: whether each element of
      the result belongs to the operands' elements at the same index.

    >>> from hloom.testing.decisions import DECISIONS
    >>> decision = DECISIONS["The sign of -0.0 is 0.0"]
    >>> decision.evaluate("reference")
    array([ 0.,  0., -1., nan], dtype=float32)
    >>> decision.evaluate_plain("reference")
    array([-0.,  0., -1., nan], dtype=float32)
    """

    claim: str
    program: str
    operands: tuple[NDArray, ...]
    want: NDArray | None
    why: str
    raises: str = ""
    numpy: Said = SAME
    asks: str = ""
    plain: Plain | None = None
    xla: Said = SAME
    reference: Said = SAME
    settings: str = "default"
    lowering: str = ""
    ulp: float = 0.0
    departures: Mapping[str, Departure] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    rows: bool = True
    topic: str = ""

    def __str__(self) -> str:
        return self.claim

    # ---- running ----------------------------------------------------------------------------
    def call(self, *operands: Any) -> Any:
        """The program as a function of its operands."""
        return eval(self.program, SCOPE | dict(zip(NAMES, operands)))

    def evaluate(self, engine: str) -> NDArray:
        """What hloom gives on this engine, operation by operation, 64-bit types on."""
        with options(engine=engine, enable_x64=True):
            return np.asarray(self.call(*self.operands))

    def evaluate_whole(self, engine: str = "xla", exact: bool = False) -> NDArray:
        """The same in one program."""
        with options(engine=engine, enable_x64=True, exact=exact):
            return np.asarray(jit(self.call)(*self.operands))

    def expected(self, *engines: str) -> NDArray:
        """What it must give there: hloom's answer, or the departure of the first that has one."""
        for engine in engines:
            if engine in self.departures:
                return self.departures[engine].gives
        assert self.want is not None
        return self.want

    def asked(self) -> NDArray:
        """What NumPy gives."""
        scope = SCOPE | dict(zip(NAMES, self.operands))
        with np.errstate(all="ignore"):
            return np.asarray(eval(self.asks, scope))

    def plain_text(self) -> str:
        """The module of the plain program."""
        assert self.plain is not None
        formula = self.plain.formula

        def body(block: Any, *operands: Any) -> Any:
            made = formula(*[Term(block, x) for x in operands])
            return made.operand if isinstance(made, Term) else made

        module = Module("plain", locations=False)
        main = Function(Lowering(module), [ShapedArray(x.shape, x.dtype) for x in self.operands])
        module.functions["main"] = main.write(body)
        return module.text(locations=False)

    def evaluate_plain(self, engine: str) -> NDArray:
        """What the plain program gives on "xla" or "reference"; raises EngineError if it ends."""
        assert self.want is not None
        ins = [ShapedArray(x.shape, x.dtype) for x in self.operands]
        out = ShapedArray(self.want.shape, self.want.dtype)
        loaded: Any = engines.load(engine)
        text = self.plain_text()
        if engine == "xla" and self.settings == "stock":
            options_ = jaxlib_compat.compile_options([])
            execute = jaxlib_compat.compile_text(text, options_).execute_sharded
            handlers = [jaxlib_compat.result_handler(out)]
        else:
            tier = {"tier": self.settings} if engine == "xla" else {}
            program = loaded.compile_text(text, ins, [out], **tier)
            execute, handlers = program.execute, program.handlers
        buffers = [loaded.put(x, aval) for x, aval in zip(self.operands, ins)]
        (result,) = execute(buffers).consume_with_handlers(handlers)
        found: NDArray = loaded.get(result, out)
        return found


def said(what: Said, want: NDArray) -> NDArray | str:
    """What should come out with this version of jaxlib; a text if it can't be run."""
    if isinstance(what, ByVersion):
        what = what.before if jaxlib_compat.BEFORE_0_12 else what.since
    return want if isinstance(what, str) and what == SAME else what


# ---- operands -----------------------------------------------------------------------------------
def i8(*values: int) -> NDArray:
    return np.array(values, np.int8)


def i32(*values: int) -> NDArray:
    return np.array(values, np.int32)


def i64(*values: int) -> NDArray:
    return np.array(values, np.int64)


def u8(*values: int) -> NDArray:
    return np.array(values, np.uint8)


def u32(*values: int) -> NDArray:
    return np.array(values, np.uint32)


def f16(*values: float) -> NDArray:
    return np.array(values, np.float16)


def bf16(*values: float) -> NDArray:
    return np.array(values, ml_dtypes.bfloat16)


def f32(*values: float) -> NDArray:
    return np.array(values, np.float32)


def f64(*values: float) -> NDArray:
    return np.array(values, np.float64)


def c64(*values: complex) -> NDArray:
    return np.array(values, np.complex64)


def c128(*values: complex) -> NDArray:
    return np.array(values, np.complex128)


def truth(*values: bool) -> NDArray:
    return np.array(values, bool)
