"""The default engine: StableHLO text, compiled and run by XLA.

Where a program comes from, in this order: the cache on disk, the compiler.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod
from typing import Any

from hloom.core.aval import ShapedArray
from hloom.core.context import current
from hloom.core.jaxpr import Jaxpr, Var
from hloom.core.support.executable import Executable
from hloom.engines import disk_cache, ending, faults, jaxlib_compat, lapack, memory
from hloom.engines.background import Worker
from hloom.engines.base import TIERS
from hloom.engines.buffers import BufferEngine
from hloom.engines.settings import SETTINGS, setting
from hloom.errors import DeviceMemoryError, EngineError, EngineUnsupported
from hloom.stablehlo.lower import lower

# Bytes; where a program that needs less fails for want of memory, all else has failed before.
GUARDED = 1 << 20
DEEPEST = 150  # functions inside one another; XLA calls itself for each, and dies at about 180


class XlaEngine(BufferEngine):
    """Compiles with XLA, at the tier asked for, and keeps what it compiled on disk."""

    name = "xla"

    def __init__(self) -> None:
        self.cache = disk_cache.open_default()
        self.worker = Worker()
        ending.register()
        self._options = {name: jaxlib_compat.compile_options(s) for name, s in SETTINGS.items()}
        jaxlib_compat.configure_tracebacks(current.get().config.tracebacks)

    def compile(
        self,
        jaxpr: Jaxpr,
        *,
        name: str = "main",
        donated: Collection[int] = (),
        tier: str = "default",
    ) -> Executable:
        """The program of `jaxpr`, compiled as `settings` decides."""
        check_nesting(jaxpr, name)  # first, as it does not recurse
        check_sizes(jaxpr)
        check_chain(jaxpr, name)
        module = lower(jaxpr, name=name, exact=tier == "exact", donated=donated, locations=False)
        return self.compile_text(
            module.text(locations=False),
            jaxpr.in_avals,
            jaxpr.out_avals,
            name=name,
            tier=tier,
        )

    def compile_text(
        self,
        text: str,
        in_avals: Sequence[ShapedArray],
        out_avals: Sequence[ShapedArray],
        *,
        name: str = "main",
        tier: str = "default",
    ) -> Executable:
        """The same for StableHLO text, whose `main` takes and gives these types."""
        if tier not in TIERS:
            raise ValueError(f"tier is one of {', '.join(TIERS)}; got {tier!r}")
        jaxlib_compat.configure_tracebacks(current.get().config.tracebacks)
        lapack.require(text)
        outs = list(out_avals)
        if tier == "fast":
            moved = sum([aval.size * aval.dtype.itemsize for aval in (*in_avals, *outs)])
            tier = setting(text, moved)
        return _executable(self.load(text, tier, name), outs, name)

    # ---- where programs come from -----------------------------------------------------------
    def load(self, text: str, setting: str, name: str) -> Any:
        """jaxlib's executable for the text, from disk if it is there."""
        jaxlib_compat.check_process()
        key = self._key(text, setting)
        loaded = self._from_disk(key, setting)
        if loaded is not None:
            return loaded
        try:
            loaded = jaxlib_compat.compile_text(text, self._options[setting])
        except RuntimeError as fault:
            raise faults.refused(fault, text, name) from None
        self._to_disk(key, loaded)
        return loaded

    def _key(self, text: str, setting: str) -> str:
        return disk_cache.key(text, SETTINGS[setting]) if self.cache else ""

    def _from_disk(self, key: str, setting: str) -> Any:
        if self.cache is None:
            return None
        blob = self.cache.load(key)
        if blob is None:
            return None
        try:
            return jaxlib_compat.deserialize(blob, self._options[setting])
        except RuntimeError:
            self.cache.remove(key)  # whole, yet XLA does not take it: compile anew
            return None

    def _to_disk(self, key: str, loaded: Any) -> None:
        if self.cache and self.cache.store(key, jaxlib_compat.serialize(loaded)):
            self.worker.submit(self.cache.trim)

    # ---- looking at programs ----------------------------------------------------------------
    @staticmethod
    def loaded_of(executable: Executable) -> Any:
        """jaxlib's executable in one of ours; raises EngineUnsupported in one of another engine."""
        run: Any = executable.execute
        loaded = run.loaded if isinstance(run, GuardedRun) else getattr(run, "__self__", None)
        if loaded is None:
            text = 'only programs of the xla engine can be analysed: with hloom.engine("xla"):'
            raise EngineUnsupported(text)
        return loaded

    def hlo_of(self, text: str) -> Any:
        """The StableHLO program as HLO, as XLA reads it: an `XlaComputation` of jaxlib."""
        return jaxlib_compat.hlo_of(text)

    def optimized_text(self, executable: Executable) -> str:
        """The HLO that XLA made of the program."""
        return str(self.loaded_of(executable).get_hlo_text())

    def cost_analysis(self, executable: Executable) -> dict[str, float]:
        """What XLA counts in the program: `flops`, `transcendentals`, `bytes accessed`."""
        return dict(self.loaded_of(executable).cost_analysis())

    def memory_analysis(self, executable: Executable) -> Any:
        """Bytes of arguments, results and scratch, as attributes (`temp_size_in_bytes`, ..)."""
        return self.loaded_of(executable).get_compiled_memory_stats()


# ---- running ----------------------------------------------------------------------------------
class GuardedRun:
    """`execute` for a program that needs much memory: asks for it, and says so if there is none.

    Other programs are run by jaxlib's own method, which is half a microsecond faster.
    """

    __slots__ = ("loaded", "_execute", "_needed", "_name", "_largest")

    def __init__(self, loaded: Any, needed: int, name: str, outs: Sequence[ShapedArray]):
        self.loaded = loaded
        self._execute = loaded.execute_sharded
        self._needed = needed
        self._name = f"program {name!r}"
        self._largest = max(outs, key=_bytes, default=None)

    def __call__(self, buffers: Sequence[Any], with_tokens: bool = False) -> Any:
        jaxlib_compat.check_process()
        memory.require(self._needed, self._name, self._largest)
        try:
            return self._execute(buffers, with_tokens)
        except jaxlib_compat.RuntimeFault as fault:
            raise faults.translate(fault, self._name) from None


def _bytes(aval: ShapedArray) -> int:
    return aval.size * aval.dtype.itemsize


def _executable(loaded: Any, outs: list[ShapedArray], name: str) -> Executable:
    needed = jaxlib_compat.memory_needed(loaded)
    run = GuardedRun(loaded, needed, name, outs) if needed >= GUARDED else loaded.execute_sharded
    return Executable(run, [jaxlib_compat.result_handler(aval) for aval in outs], outs)


# ---- sizes ------------------------------------------------------------------------------------
def check_sizes(jaxpr: Jaxpr) -> None:
    """Raise DeviceMemoryError for a type that no memory holds; XLA 0.10 dies of it."""
    for aval in _avals(jaxpr):
        if not 0 < aval.size < memory.ADDRESSABLE // 16:
            # An axis of size 0 does not help: XLA multiplies the others.
            size = prod([max(n, 1) for n in aval.shape]) * aval.dtype.itemsize
            if size >= memory.ADDRESSABLE:
                said = "" if aval.size else "(an empty array may not have axes as long as these)"
                raise DeviceMemoryError.allocation(aval, size, said)


def check_nesting(jaxpr: Jaxpr, name: str) -> None:
    """Raise EngineError for functions and branches inside one another that XLA dies of."""
    level = [jaxpr]
    for _ in range(DEEPEST + 1):
        equations = [equation for each in level for equation in each.equations]
        inner = [x for equation in equations for x in equation.inner_jaxprs()]
        level = list({id(x): x for x in inner}.values())
        if not level:
            return
    raise EngineError.of(
        "xla",
        "compile",
        f"more than {DEEPEST} functions and branches of program {name!r} are nested. "
        "A loop has one: lax.fori_loop(0, n, lambda i, x: f(x), x)",
    )


def check_chain(jaxpr: Jaxpr, name: str) -> None:
    """Raise EngineError for operations after one another that XLA would not survive."""
    if len(jaxpr.equations) <= jaxlib_compat.LONGEST_CHAIN:
        return
    depths: dict[Any, int] = {}
    for equation in jaxpr.equations:
        above = [depths.get(atom, 0) for atom in equation.inputs if isinstance(atom, Var)]
        depths.update(dict.fromkeys(equation.outputs, 1 + max(above, default=0)))
    longest = max(depths.values())
    if longest > jaxlib_compat.LONGEST_CHAIN:
        raise EngineError.of(
            "xla",
            "compile",
            f"program {name!r} has {longest:,} operations one after another, and XLA of jaxlib "
            f"before 0.12 takes {jaxlib_compat.LONGEST_CHAIN:,}. A loop that is not unrolled has "
            "few: lax.fori_loop(0, n, lambda i, x: f(x), x)",
        )


def _avals(jaxpr: Jaxpr) -> Iterator[ShapedArray]:
    yield from jaxpr.in_avals
    for equation in jaxpr.equations:
        for var in equation.outputs:
            yield var.aval
        for inner in equation.inner_jaxprs():
            yield from _avals(inner)
