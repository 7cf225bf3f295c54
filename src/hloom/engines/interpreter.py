"""The program behind the reference engine: the StableHLO interpreter, in a process of its own.

jaxlib's MLIR bindings contain the interpreter of the StableHLO project, which follows the text of
the specification.  What it lacks it answers with `abort()`, and an integer division by zero with a
signal.  So it runs here, in a process that imports nothing of hloom and may die:

    hloom <-- pipe --> this process, which only forks --> a child that interprets

When the child dies, this process says so and forks the next one, in a millisecond.

A request is `(text, operands)`, with `operands` None to ask whether the program can run at all.
The reply is `(status, content)`: "done" with the results, "unsupported" with an operation and the
reason, "refused" with the interpreter's error, or "died" with the signal.  Operands and results
are the bytes of their elements.
"""

from __future__ import annotations

import marshal
import os
import re
import select
import signal
import sys
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import jaxlib.version
import numpy as np
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext, _stablehlo

Reply = tuple[str, Any]

# Operations that end the process.
ABSENT = {
    "stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all",
    "stablehlo.batch_norm_grad", "stablehlo.batch_norm_inference", "stablehlo.batch_norm_training",
    "stablehlo.cholesky", "stablehlo.collective_broadcast", "stablehlo.collective_permute",
    "stablehlo.custom_call", "stablehlo.reduce_scatter", "stablehlo.rng",
    "stablehlo.rng_bit_generator",
}  # fmt: skip

# Element types that NumPy can be given and asked for as they are; all others travel as bits.
NUMPY = {
    "i1": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8",
    "ui8": "u1", "ui16": "u2", "ui32": "u4", "ui64": "u8", "f16": "f2", "f32": "f4", "f64": "f8",
}  # fmt: skip
COMPLEX = {"complex<f32>": "f4", "complex<f64>": "f8"}

_TENSOR = re.compile(r"tensor<((?:\d+x)*)(.+)>")


class Unsupported(Exception):
    """The interpreter would not survive this: operation, reason."""


class Tensor(NamedTuple):
    """A tensor's type."""

    shape: tuple[int, ...]
    element: str

    @classmethod
    def parse(cls, text: str) -> Tensor:
        """`tensor<2x3xf32>`"""
        found = _TENSOR.fullmatch(text)
        if found is None:
            raise Unsupported("main", f"it takes or gives {text}, which is not an array")
        return cls(tuple(map(int, found[1].split("x")[:-1])), found[2])

    def __str__(self) -> str:
        return f"tensor<{''.join([f'{size}x' for size in self.shape])}{self.element}>"


class Program(NamedTuple):
    """A module ready to run, and the types of its operands and results."""

    module: Any
    operands: list[Tensor]
    results: list[Tensor]


# ---- preparing --------------------------------------------------------------------------------
def make_context() -> Any:
    """An MLIR context with all dialects; without threads, which would not survive a fork."""
    context = ir.Context()
    context.enable_multithreading(False)
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    _stablehlo.register_dialect(context)
    _chlo.register_dialect(context)
    _stablehlo.register_interpreter_dialect(context)
    return context


def prepare(text: str) -> Program:
    """Parse, replace CHLO, refuse what would end the process, and wrap results NumPy can't read."""
    module = ir.Module.parse(text)
    if "chlo." in text:
        passes = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
        passmanager.PassManager.parse(passes).run(module.operation)
    for operation in list(walk(module.operation)):
        screen(operation)
        keep_operands(operation)
    main: Any = next(op for op in module.body.operations if symbol(op) == "main")
    signature = main.attributes["function_type"].value
    operands = [Tensor.parse(str(type)) for type in signature.inputs]
    results = [Tensor.parse(str(type)) for type in signature.results]
    if any(result.element not in NUMPY for result in results):
        main.attributes["sym_name"] = ir.StringAttr.get("hloom_wrapped")
        main.attributes["sym_visibility"] = ir.StringAttr.get("private")
        body = str(module).rstrip().removesuffix("}")
        module = ir.Module.parse(f"{body}\n{wrapper(operands, results)}\n}}")
    return Program(module, operands, results)


def symbol(function: Any) -> str:
    """A function's name."""
    name: str = function.attributes["sym_name"].value
    return name


def walk(operation: Any) -> Iterator[Any]:
    """The operation and all inside it."""
    yield operation
    for region in operation.regions:
        for block in region:
            for inner in block:
                yield from walk(inner.operation)


def screen(operation: Any) -> None:
    """Raise Unsupported for an operation that ends the process, or goes wrong."""
    name = operation.name
    if name in ABSENT or name.startswith(("chlo.", "sdy.")):
        raise Unsupported(name, "the interpreter does not have it")
    types = [str(x.type) for x in operation.operands]
    if name in ("stablehlo.dot_general", "stablehlo.convolution", "stablehlo.dot"):
        if any("<0x" in type or "x0x" in type for type in types):
            raise Unsupported(name, "an operand has an axis of size 0")
    if name == "stablehlo.compare" and "complex" in types[0]:
        if not re.search(r"\b(EQ|NE)\b", str(operation.attributes["comparison_direction"])):
            raise Unsupported(name, "it does not order complex numbers")
    if name == "stablehlo.fft":
        screen_fft(operation, types[0])
    if name in ("stablehlo.convert", "stablehlo.iota"):
        if any("f8E8M0FNU" in text for text in (*types, str(operation.results[0].type))):
            raise Unsupported(name, "it gives f8E8M0FNU numbers where that has only NaN")
    if name in ("stablehlo.convert", "stablehlo.bitcast_convert"):
        if re.search(r"[<x]u?i[24]>", str(operation.results[0].type)):
            raise Unsupported(name, "it does not convert to integers below 8 bits")


def screen_fft(operation: Any, operand: str) -> None:
    """Raise Unsupported for a Fourier transform that ends the process, or goes wrong."""
    length = list(ir.DenseI64ArrayAttr(operation.attributes["fft_length"]))[-1]
    if "IRFFT" in str(operation.attributes["fft_type"]) and length % 2:
        raise Unsupported(operation.name, "its inverse transform to an odd length is wrong")
    if "f32" in operand and jaxlib.version.__version_info__ < (0, 12):
        raise Unsupported(operation.name, "before jaxlib 0.12 it takes double precision only")


def keep_operands(operation: Any) -> None:
    """Give a scatter copies of its inputs: the interpreter writes its result into them.

    A transpose that moves no axis is evaluated into a new tensor.
    """
    if operation.name != "stablehlo.scatter":
        return
    for i in range(len(operation.results)):
        type = operation.results[i].type
        axes = ir.DenseI64ArrayAttr.get(list(range(ir.RankedTensorType(type).rank)))
        copy = ir.Operation.create(
            "stablehlo.transpose", results=[type], operands=[operation.operands[i]],
            attributes={"permutation": axes}, ip=ir.InsertionPoint(operation),
        )  # fmt: skip
        operation.operands[i] = copy.result


def wrapper(operands: Sequence[Tensor], results: Sequence[Tensor]) -> str:
    """A `main` that calls the program and gives its results in types that NumPy reads.

    Complex results come as two of their parts, 16- and 8-bit floats as their bits.
    """
    names = [f"%a{i}" for i in range(len(operands))]
    parts, types, lines = [], [], []
    called = "%r" if len(results) == 1 else f"%r:{len(results)}"
    for i, result in enumerate(results):
        name = "%r" if len(results) == 1 else f"%r#{i}"
        for j, (operation, carrier) in enumerate(carriers(result)):
            if operation:
                line = f"%c{i}_{j} = stablehlo.{operation} {name} : ({result}) -> {carrier}"
                lines.append(line)
            parts.append(f"%c{i}_{j}" if operation else name)
            types.append(str(carrier))
    arguments = ", ".join(f"{name}: {type}" for name, type in zip(names, operands))
    signature = f"({', '.join(map(str, operands))}) -> ({', '.join(map(str, results))})"
    call = f"{called} = func.call @hloom_wrapped({', '.join(names)}) : {signature}"
    end = f"return {', '.join(parts)} : {', '.join(types)}"
    return "\n".join(
        [f"func.func public @main({arguments}) -> ({', '.join(types)}) {{", call, *lines, end, "}"]
    )


def carriers(result: Tensor) -> list[tuple[str, Tensor]]:
    """(operation, type) of each array that carries this result; no operation: as it is."""
    if result.element in COMPLEX:
        part = Tensor(result.shape, result.element[8:-1])
        return [("real", part), ("imag", part)]
    if result.element in NUMPY:
        return [("", result)]
    match re.split(r"(\d+)", result.element)[:2]:
        case [("i" | "ui") as kind, "2" | "4"]:
            return [("convert", Tensor(result.shape, f"{kind}8"))]
        case ["f" | "bf", ("8" | "16") as width]:
            return [("bitcast_convert", Tensor(result.shape, f"ui{width}"))]
    raise Unsupported("main", f"its result of type {result} cannot be read")


# ---- running ----------------------------------------------------------------------------------
def run(program: Program, operands: Sequence[bytes]) -> list[bytes]:
    """Results of the program; raises ValueError where the interpreter finds a fault."""
    attributes = [attribute(raw, type) for raw, type in zip(operands, program.operands)]
    found = iter([np.asarray(x) for x in _stablehlo.eval_module(program.module, attributes)])
    return [collect(result, [next(found) for _ in carriers(result)]) for result in program.results]


def collect(result: Tensor, parts: list[np.ndarray[Any, Any]]) -> bytes:
    """The bytes of a result, from what carried it."""
    if len(parts) == 1:
        return parts[0].tobytes()
    whole = np.empty((*result.shape, 2), parts[0].dtype)
    whole[..., 0], whole[..., 1] = parts
    return whole.tobytes()


def attribute(raw: bytes, type: Tensor) -> Any:
    """The operand as the interpreter takes it."""
    dense: Any = ir.DenseElementsAttr
    if type.element in COMPLEX:
        part = np.dtype(COMPLEX[type.element])
        element = ir.F32Type.get() if part.itemsize == 4 else ir.F64Type.get()
        values = np.frombuffer(raw, part)
        complex_type = ir.ComplexType.get(element)
        return dense.get(values, type=complex_type, shape=list(type.shape))
    if type.element in NUMPY:
        values = np.frombuffer(raw, NUMPY[type.element]).reshape(type.shape)
        if type.element.startswith("u"):
            return dense.get(values, signless=False)  # else i32 for ui32
        return dense.get(values)
    if not prod(type.shape):
        return ir.Attribute.parse(f"dense<> : {type}")
    return ir.Attribute.parse(f'dense<"0x{raw.hex()}"> : {type}')


def answer(request: tuple[str, list[bytes] | None], programs: dict[str, Program]) -> Reply:
    """The reply to one request; `programs` remembers what was prepared."""
    text, operands = request
    try:
        if text not in programs:
            if len(programs) > 500:
                programs.clear()
            programs[text] = prepare(text)
        if operands is None:
            return "done", []
        return "done", run(programs[text], operands)
    except Unsupported as fault:
        return "unsupported", list(fault.args)
    except (ValueError, TypeError, RuntimeError, ir.MLIRError) as fault:
        return "refused", str(fault)


# ---- processes --------------------------------------------------------------------------------
def serve(context: Any) -> None:
    """Answer requests until there are no more."""
    programs: dict[str, Program] = {}
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    with context, ir.Location.unknown():
        while True:
            try:
                request = marshal.load(requests)
            except EOFError:
                return
            reply(replies, answer(request, programs))


def reply(replies: Any, message: Reply) -> None:
    """Write a reply."""
    marshal.dump(message, replies)
    replies.flush()


def warm_up(context: Any) -> None:
    """Have all that a first run sets up done before the fork, and not in each child."""
    with context, ir.Location.unknown():
        run(prepare("func.func @main() { return }"), [])


def main() -> None:
    """Serve on standard input and output, from a child process where the system can fork.

    Requests come one at a time, so that a child which dies has read no further than its own.
    """
    _stablehlo.register_stablehlo_passes()
    context = make_context()
    warm_up(context)
    if not hasattr(os, "fork"):
        serve(context)
        return
    while True:
        ended, held = os.pipe()  # the child holds its end open for as long as it lives
        child = os.fork()
        if not child:
            serve(context)
            os._exit(0)
        os.close(held)
        await_end(ended, child)
        os.close(ended)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return
        reply(sys.stdout.buffer, ("died", os.WTERMSIG(status)))


def await_end(ended: int, child: int) -> None:
    """Wait until the child ends, or end it where nobody is left to read its answer."""
    changes = select.poll()
    changes.register(ended, select.POLLHUP)
    changes.register(sys.stdin.fileno(), select.POLLHUP)
    if any(descriptor != ended for descriptor, _ in changes.poll()):
        os.kill(child, signal.SIGKILL)
        os._exit(0)


if __name__ == "__main__":
    main()
