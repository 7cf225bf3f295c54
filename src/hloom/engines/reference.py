"""The reference engine: StableHLO text, run by the interpreter of the StableHLO project.

It is slow (half a microsecond for each element of each operation) and follows the specification's
text, so it shows whether a program or a compiler is wrong.  The interpreter works in a process of
its own, `interpreter`; here is the near end of the pipe.
"""

from __future__ import annotations

import atexit
import marshal
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from hloom.core.aval import ShapedArray
from hloom.core.jaxpr import Jaxpr
from hloom.core.support.executable import Executable
from hloom.engines import faults
from hloom.engines.base import HostResults, handlers_of
from hloom.engines.buffers import BufferEngine
from hloom.engines.xla import check_sizes
from hloom.errors import EngineError, EngineUnsupported
from hloom.stablehlo.lower import lower

_SCRIPT = Path(__file__).with_name("interpreter.py")


class ReferenceEngine(BufferEngine):
    """Writes the StableHLO that XLA would get, and has the interpreter run it."""

    name = "reference"
    platform = "cpu"  # what XLA is given is what is to be checked

    def __init__(self) -> None:
        self.process = InterpreterProcess()

    def compile(
        self,
        jaxpr: Jaxpr,
        *,
        name: str = "main",
        donated: Collection[int] = (),
        tier: str = "default",
    ) -> Executable:
        """The program of `jaxpr`; nothing is donated here, and there is one tier."""
        check_sizes(jaxpr)
        module = lower(
            jaxpr, name=name, platform=self.platform, exact=tier == "exact", locations=False
        )
        text = module.text(locations=False)
        return self.compile_text(text, jaxpr.in_avals, jaxpr.out_avals, name=name)

    def compile_text(
        self,
        text: str,
        in_avals: Sequence[ShapedArray],
        out_avals: Sequence[ShapedArray],
        *,
        name: str = "main",
    ) -> Executable:
        """The same for StableHLO text, whose `main` takes and gives these types."""
        outs = list(out_avals)
        run = Interpreted(self.process, text, list(in_avals), outs, name)
        run.ask(None)  # whether it can run at all
        return Executable(run, handlers_of(outs), outs)


class Interpreted:
    """`execute` for a program that the interpreter runs."""

    def __init__(
        self,
        process: InterpreterProcess,
        text: str,
        in_avals: list[ShapedArray],
        outs: list[ShapedArray],
        name: str,
    ):
        self.process = process
        self.text = text
        self.in_avals = in_avals
        self.outs = outs
        self.name = name

    def __call__(self, buffers: Sequence[Any], with_tokens: bool = False) -> HostResults:
        values = map(ReferenceEngine.get, buffers, self.in_avals)
        results = self.ask([value.tobytes() for value in values])
        return HostResults(list(map(_buffer, results, self.outs)))

    def ask(self, operands: list[bytes] | None) -> list[bytes]:
        """The results; None as operands asks whether the program can run.  Raises EngineError."""
        status, content = self.process.ask(self.text, operands)
        if status == "done":
            results: list[bytes] = content
            return results
        program = f"program {self.name!r}"
        if status == "unsupported":
            operation, why = content
            raise EngineUnsupported.operation("reference", f"{operation} in {program}", why)
        if status == "died":
            raise EngineUnsupported.operation("reference", program, self._cause_of_death(content))
        if operands is None:
            raise faults.refused(ValueError(content), self.text, self.name, "reference")
        raise EngineError.of("reference", "run", f"{program}: {content}")

    def _cause_of_death(self, number: int) -> str:
        if number == signal.SIGFPE:
            return "it divides an integer by zero, which ends the interpreter's process"
        said = self.process.last_words()
        names = [x.name for x in signal.Signals if x.value == number]
        ended = f"it ended the interpreter's process ({', '.join(names) or f'status {number}'})"
        return f"{ended}: {said}" if said else ended


def _buffer(raw: bytes, aval: ShapedArray) -> Any:
    return ReferenceEngine.put_owned(np.frombuffer(raw, aval.dtype).reshape(aval.shape), aval)


class InterpreterProcess:
    """The interpreter's process: started at the first question, and again when it is gone.

    One question at a time is asked; threads wait for each other.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._errors: IO[bytes] | None = None

    def ask(self, text: str, operands: list[bytes] | None) -> tuple[str, Any]:
        """Status and content of the reply, as `interpreter` describes them."""
        with self._lock:
            process = self._running()
            assert process.stdin is not None and process.stdout is not None
            try:
                marshal.dump((text, operands), process.stdin)
                process.stdin.flush()
                reply: tuple[str, Any] = marshal.load(process.stdout)
            except (EOFError, OSError):
                self._stop()
                return "died", -(process.returncode or 0)
            except BaseException:
                self._stop()  # else the next question would get the answer to this one
                raise
            return reply

    def last_words(self) -> str:
        """What the interpreter said on stderr before it ended, in a line."""
        if self._errors is None:
            return ""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").splitlines()
        self._errors.seek(0)
        self._errors.truncate()
        said = [line for line in lines if "LLVM ERROR" in line or "Check failed" in line]
        return said[-1][:300] if said else ""

    def _running(self) -> subprocess.Popen[bytes]:
        process = self._process
        # After a fork the pipes belong to the other process.
        if process is None or self._owner != os.getpid() or process.poll() is not None:
            process = self._process = self._start()
        return process

    def _start(self) -> subprocess.Popen[bytes]:
        if not sys.executable:
            why = "sys.executable, the Python that would run the interpreter, is not known"
            raise EngineUnsupported.operation("reference", "any program", why)
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._errors = tempfile.TemporaryFile()
            atexit.register(self._stop)
        path = os.pathsep.join([os.path.abspath(folder) for folder in sys.path if folder])
        return subprocess.Popen(
            # -P: else numpy.py, beside the script, would be found for NumPy.
            [sys.executable, "-P", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=os.environ | {"PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C is for this process
        )

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        try:
            os.killpg(process.pid, signal.SIGKILL)  # the child that interprets, too
        except (AttributeError, ProcessLookupError):
            process.kill()
        process.communicate()
