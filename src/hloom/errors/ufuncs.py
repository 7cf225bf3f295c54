"""Calls of NumPy's ufuncs in the user's code, rewritten as calls of hloom's functions."""

from __future__ import annotations

import ast
import sys
from typing import Any, NamedTuple

import numpy as np

from hloom.errors.rewriting import found, of_hloom
from hloom.errors.texts import element_update

# What hloom calls a ufunc's methods, whose `axis` is 0 where none is given.
_OF_METHODS = {
    ("add", "reduce"): "sum", ("multiply", "reduce"): "prod",
    ("maximum", "reduce"): "max", ("minimum", "reduce"): "min",
    ("logical_and", "reduce"): "all", ("logical_or", "reduce"): "any",
    ("add", "accumulate"): "cumsum", ("multiply", "accumulate"): "cumprod",
}  # fmt: skip
_PARAMETERS = ("array", "axis", "dtype", "out", "keepdims", "initial", "where")
_WITH_DTYPE = ("sum", "prod", "cumsum", "cumprod")
# What `x.at[i]` calls a ufunc of two operands.
_UPDATES = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide",
    "power": "power", "minimum": "min", "maximum": "max",
}  # fmt: skip

_HOMES = {"jnp": "hloom.numpy", "lax": "hloom.lax"}


class UfuncCall(NamedTuple):
    """`np.add.reduce(x)`: the ufunc, its method ("__call__" for `np.add(x, y)`), and the place.

    `axis` is that of a reduction.
    """

    ufunc: Any
    method: str
    at: Any
    axis: Any = 0

    def __str__(self) -> str:
        """The function that the user called: it may be `np.sum`, which calls the ufunc."""
        path, _ = of_hloom(self.at)
        if path:
            return f"np.{path}"
        name = self.ufunc.__name__
        home = "np." if vars(np).get(name) is self.ufunc else ""
        return home + name + (f".{self.method}" if self.method != "__call__" else "")

    @property
    def function(self) -> str:
        """The function of hloom's that does the same, `jnp.sum`; "" where there is none."""
        name = self.ufunc.__name__
        if self.method not in ("__call__", "outer"):
            name = _OF_METHODS.get((name, self.method), "")
        known = [home for home in _HOMES if name in vars(sys.modules[_HOMES[home]])]
        return f"{known[0]}.{name}" if known else ""

    def written(self) -> Any:
        """The call as the user wrote it; None where it is another's, as that within `np.sum`."""
        node = next(iter(found(self.at)), None)
        if not isinstance(node, ast.Call) or any(isinstance(x, ast.Starred) for x in node.args):
            return None
        *_, owner, name = ["", *ast.unparse(node.func).split(".")]
        if self.method != "__call__":
            name = owner if name == self.method else ""
        same = name == self.ufunc.__name__ or vars(np).get(name) is self.ufunc
        return node if same and None not in [k.arg for k in node.keywords] else None


def in_hloom(call: UfuncCall) -> str:
    """The same as a call of hloom's: `jnp.sum(x, axis=0)` for `np.add.reduce(x)`.

    Without what it writes to; "" where hloom has no such function.
    """
    node, function = call.written(), call.function
    path, code = of_hloom(call.at) if node is None else ("", "")
    if path or not function:
        return code
    if call.method == "outer":
        return _outer(function, node) if node is not None and len(node.args) == 2 else ""
    elementwise = call.method == "__call__"
    if node is None:
        names = ", ".join("xyzw"[: call.ufunc.nin])
        return f"{function}({names})" if elementwise else f"{function}(x, axis={call.axis})"
    name = ast.unparse(node.func).rpartition(".")[2]
    if elementwise and name in vars(sys.modules["hloom.numpy"]):
        function = f"jnp.{name}"  # `np.abs` is `jnp.abs`, though the ufunc's name is "absolute"
    return (_elementwise if elementwise else _reduction)(call, function, node)


def _elementwise(call: UfuncCall, function: str, node: ast.Call) -> str:
    operands, given = list(map(ast.unparse, node.args[: call.ufunc.nin])), _keywords(node)
    unused = ("out", "where", "dtype", "casting", "order", "subok")
    kept = [f"{name}={text}" for name, text in given.items() if name not in unused]
    code = f"{function}({', '.join(operands + kept)})"
    if given.get("dtype", "None") != "None":
        code = f"{code}.astype({given['dtype']})"
    where = given.get("where", "True")
    return code if where == "True" else f"jnp.where({where}, {code}, {given.get('out', '0')})"


def _outer(function: str, node: ast.Call) -> str:
    x, y = map(ast.unparse, node.args)
    return f"{function}(jnp.reshape({x}, (*jnp.shape({x}), *[1] * jnp.ndim({y}))), {y})"


def _reduction(call: UfuncCall, function: str, node: ast.Call) -> str:
    given = dict(zip(_PARAMETERS, map(ast.unparse, node.args))) | _keywords(node)
    array, axis = given.pop("array", "x"), given.pop("axis", "0")
    unused = ("out",) if function.endswith(_WITH_DTYPE) else ("out", "dtype")
    options = [f"{n}={text}" for n, text in given.items() if n not in unused and text != "None"]
    return f"{function}({', '.join([array, f'axis={axis}', *options])})"


def _keywords(node: ast.Call) -> dict[str, str]:
    return {k.arg: ast.unparse(k.value) for k in node.keywords if k.arg is not None}


def assigned(call: UfuncCall) -> str:
    """A call that writes to `out` as an assignment, `z = jnp.add(x, y)`; "" where none is known."""
    code, targets = in_hloom(call), written_to(call)
    if not code:
        node = next(iter(found(call.at)), None)
        if not isinstance(node, ast.Call) or "out" not in _keywords(node):
            return ""
        rest = [k for k in node.keywords if k.arg != "out"]
        code = f"jnp.asarray({ast.unparse(ast.Call(node.func, node.args, rest))})"
    if len(targets) == 1 and targets[0].endswith("]"):
        update = element_update(f"{targets[0]} = {code}")
        return update[1] if update else ""
    return f"{', '.join(targets or ['x', 'y'][: call.ufunc.nout])} = {code}"


def written_to(call: UfuncCall) -> list[str]:
    """What the call writes to, `out=` or what follows the operands, where that has names."""
    node = next(iter(found(call.at)), None)
    if not isinstance(node, ast.Call):
        return []
    given = [k.value for k in node.keywords if k.arg == "out"]
    if not given and call.written() is not None:
        given = node.args[call.ufunc.nin :] if call.method == "__call__" else node.args[3:4]
    if given and isinstance(given[0], ast.Tuple):
        given = given[0].elts
    places = (ast.Name, ast.Attribute, ast.Subscript)
    return [ast.unparse(x) for x in given] if all(isinstance(x, places) for x in given) else []


def at_update(call: UfuncCall, read: str = "{}") -> str:
    """`np.add.at(x, i, y)` as `x = x.at[i].add(y)`; `read` is how the array is to be read."""
    node = call.written()
    given = list(map(ast.unparse, node.args)) if node is not None else ["x", "i", "y"]
    (name, place), values = given[:2], given[2 : call.ufunc.nin + 1]
    method, array = _UPDATES.get(call.ufunc.__name__), read.format(name)
    function = call._replace(method="__call__").function
    if method is None:
        if not function:
            return ""
        method, values = "set", [f"{function}({', '.join([f'{array}[{place}]', *values])})"]
    return f"{name} = {array}.at[{place}].{method}({', '.join(values)})"
