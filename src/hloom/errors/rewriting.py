"""The user's own code, found in its file and rewritten: ways out in the user's names.

Where Python asks an array for what it cannot give (a truth value, an integer), the error shows the
line as it would work: `x if x > 0 else -x` becomes `jnp.where(x > 0, x, -x)`.  Every function
answers with ways as (code, why), and with none where the file cannot be read or nothing fits.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

Way = tuple[str, str]

_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
_SITE_PACKAGES = os.path.join(_STANDARD_LIBRARY, "site-packages")


# ---- finding it -------------------------------------------------------------------------------
@lru_cache(maxsize=4)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_librarys(file: str) -> bool:
    """Whether a file is of the standard library: to rewrite it is no way out."""
    return file.startswith(_STANDARD_LIBRARY) and not file.startswith(_SITE_PACKAGES)


def found(at: Any) -> list[Any]:
    """The expression being evaluated and those around it, innermost first; of one function.

    The bounds of an instruction are those of its expression, or of a statement where that has
    nothing but a name.
    """
    if at is None or not getattr(at, "end_line", None) or _is_librarys(at.file):
        return []
    tree = _parsed("".join(linecache.getlines(at.file)))
    bounds = (at.line, at.column - 1, at.end_line, at.end_column)
    path: list[Any] = []
    node: Any = tree
    while node is not None:
        path.insert(0, node)
        if _bounds(node) == bounds and not isinstance(node, ast.Expr):
            return _of_one_function(path)
        node = next((child for child in _children(node) if _holds(child, bounds)), None)
    return []


def _children(node: ast.AST) -> Iterator[Any]:
    """The nodes with bounds right below: arguments, comprehensions and the like have none."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _children(child)


def _bounds(node: Any) -> tuple[int, int, int, int] | None:
    if not hasattr(node, "lineno"):
        return None
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _holds(node: Any, bounds: tuple[int, int, int, int]) -> bool:
    decorators = getattr(node, "decorator_list", None)
    first = (decorators[0].lineno, 0) if decorators else (node.lineno, node.col_offset)
    return bool(first <= bounds[:2] and bounds[2:] <= (node.end_lineno, node.end_col_offset))


def _of_one_function(path: list[Any]) -> list[Any]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    ends = (i for i, node in enumerate(path) if i and isinstance(node, functions))
    return path[: next(ends, len(path) - 1) + 1]


def uses_attributes(file: str | None, line: int | None, names: Sequence[str]) -> bool:
    """Whether the function defined there asks an argument for what a number has not: `x.sum()`."""
    tree = _parsed("".join(linecache.getlines(file))) if file else None
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return any(
        isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)
        and each.value.id in names
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, functions)
        and line in (node.lineno, *[d.lineno for d in getattr(node, "decorator_list", ())])
        for each in ast.walk(node)
    )  # fmt: skip


def decorated(file: str | None, line: int | None, option: str, value: str) -> str:
    """The `@jit` of the function defined there, with one more option; "" where it has none.

    To give `jit` a function that is compiled already would leave the inner one as it is.
    """
    tree = _parsed("".join(linecache.getlines(file))) if file else None
    for node in ast.walk(tree) if tree else ():
        decorators = getattr(node, "decorator_list", None)
        if decorators and line == decorators[0].lineno:
            jits = [each for each in decorators if re.search(r"\bjit\b", _text(each))]
            if jits:
                return f"@{_with_option(jits[0], option, value)}"
    return ""


def _with_option(node: Any, option: str, value: str) -> str:
    """A decorator, `jit` or `partial(jit, ..)`, with an option beside those that it has."""
    if not isinstance(node, ast.Call):
        return f"{_text(node)}({option}={value})"
    wanted = _name(value)
    rest = [k for k in node.keywords if k.arg != option]
    for given in (k.value for k in node.keywords if k.arg == option):
        both = [*getattr(given, "elts", [given]), *getattr(wanted, "elts", [wanted])]
        wanted = ast.Tuple(both, ast.Load())
    return _text(ast.Call(node.func, node.args, [*rest, ast.keyword(option, wanted)]))


# ---- conditions -------------------------------------------------------------------------------
def _is_condition(node: ast.AST) -> bool:
    """Whether an expression gives booleans, whatever its operands are: `&` then means and."""
    match node:
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            return _is_condition(left) and _is_condition(right)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_condition(operand)
    return isinstance(node, ast.Compare)


def elementwise(node: Any) -> Any:
    """A condition in functions of arrays: `a > 0 and not b` is `(a > 0) & jnp.logical_not(b)`."""
    match node:
        case ast.BoolOp(op=op, values=values):
            both = isinstance(op, ast.And)
            parts = [elementwise(value) for value in values]
            made = parts[0]
            for part in parts[1:]:
                made = _joined(made, part, both)
            return made
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = elementwise(operand)
            if _is_condition(inner):
                return ast.UnaryOp(ast.Invert(), inner)
            return _call("jnp.logical_not", inner)
        case ast.Compare(ops=[ast.In()], comparators=[values]):
            return _call("jnp.isin", node.left, values)
        case ast.Compare():
            return _unchained(node)
        case _:
            return node


def _joined(left: Any, right: Any, both: bool) -> Any:
    if _is_condition(left) and _is_condition(right):
        return ast.BinOp(left, ast.BitAnd() if both else ast.BitOr(), right)
    return _call("jnp.logical_and" if both else "jnp.logical_or", left, right)


def _unchained(node: ast.Compare) -> Any:
    """`0 < x < 1` as `(0 < x) & (x < 1)`, and `x > 0 & x < 1`, which Python chains, likewise."""
    if len(node.ops) == 1 and not isinstance(node.comparators[0], ast.BinOp):
        return node
    sides = [node.left, *node.comparators]
    made: Any = None
    join: type[ast.operator] = ast.BitAnd
    left = sides[0]
    for op, right in zip(node.ops, sides[1:]):
        following, after = right, ast.BitAnd
        if isinstance(right, ast.BinOp) and isinstance(right.op, (ast.BitAnd, ast.BitOr)):
            after, following, right = type(right.op), right.right, right.left  # type: ignore[assignment]
        part = ast.Compare(left, [op], [right])
        made = part if made is None else ast.BinOp(made, join(), part)
        left, join = following, after
    return made


def _call(name: str, *arguments: Any) -> Any:
    return ast.Call(ast.parse(name, mode="eval").body, list(arguments), [])


def _text(node: Any) -> str:
    return ast.unparse(ast.fix_missing_locations(node))


def precedence(at: Any) -> list[Way]:
    """For `x > 0 & x < 2`, where Python takes `0 & x` first."""
    for node in found(at):
        if isinstance(node, ast.Compare):
            inner = [n for n in node.comparators if isinstance(n, ast.BinOp)]
            if any(isinstance(n.op, (ast.BitAnd, ast.BitOr)) for n in inner):
                return [(_text(_unchained(node)), "& and | bind tighter than comparisons")]
    return []


# ---- truth values -----------------------------------------------------------------------------
def truth(at: Any, names: Sequence[str], *, many: bool, traced: bool) -> list[Way]:
    """What to write where `if`, `and`, `max(..)` and the like ask for the truth of an array.

    `many`: the array has more than one element; `names` are the arguments it depends on.
    """
    path = found(at)
    if not path:
        return []
    whole, around = _condition(path)
    if isinstance(whole, ast.Call) and isinstance(whole.func, ast.Name):
        return _builtin(whole, traced)
    test = elementwise(whole)
    if traced:
        return _chosen(test, around, path, names, many)
    if around is not None:
        return [
            (f"{_operand(test)}.any()", "whether it holds for one element"),
            (f"{_operand(test)}.all()", "whether it holds for all"),
        ]
    return [(_text(test), "element by element")] if test is not whole else []


def _condition(path: list[Any]) -> tuple[Any, Any]:
    """The whole condition that Python asks, and the statement or expression that asks."""
    node, rest = path[0], path[1:]
    if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)):
        return node.test, node
    while rest and isinstance(rest[0], (ast.BoolOp, ast.UnaryOp)):
        node, rest = rest[0], rest[1:]
    around = rest[0] if rest else None
    return node, around if getattr(around, "test", None) is node else None


def _operand(node: Any) -> str:
    parts = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Dict, ast.Set, ast.GeneratorExp)
    plain = isinstance(node, parts)
    return _text(node) if plain else f"({_text(node)})"


def _chosen(test: Any, around: Any, path: list[Any], names: Sequence[str], many: bool) -> list[Way]:
    """A choice by a traced condition; `around` is what chooses."""
    where, name = _text(test), next(iter(names), "x")
    match around:
        case ast.IfExp(body=a, orelse=b):
            return _choices("", where, a, b, many)
        case ast.If():
            return _choice_of_statements(around, where, path, name, many)
        case ast.While():
            return _loop(around, where)
        case ast.Assert():
            return [(f"jnp.where({where}, {name}, jnp.nan)", "shows where it does not hold")]
    if _text(path[0]) != where or isinstance(path[0], ast.Compare) and len(path[0].ops) > 1:
        return [(where, "element by element")]
    return []


def _choices(target: str, where: str, a: Any, b: Any, many: bool) -> list[Way]:
    if not (_is_array(a) and _is_array(b)):
        return []
    ways = [(f"{target}jnp.where({where}, {_text(a)}, {_text(b)})", "choose element by element")]
    if not many and not isinstance(a, ast.Constant) and not isinstance(b, ast.Constant):
        one_of = f"{target}lax.cond({where}, lambda: {_text(a)}, lambda: {_text(b)})"
        ways.append((one_of, "run one of two functions"))
    return ways


def _is_array(node: Any) -> bool:
    """Whether an expression may be an array: no text, no None, no tuple."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (bool, int, float, complex))
    parts = (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Lambda, ast.JoinedStr, ast.GeneratorExp)
    return not isinstance(node, parts)


def _choice_of_statements(
    around: ast.If, where: str, path: list[Any], name: str, many: bool
) -> list[Way]:
    """An `if` whose branches return a value, or assign to one name; else both are functions."""
    if any(isinstance(node, ast.Raise) for node in around.body):
        return [(f"jnp.where({where}, jnp.nan, {name})", "or check before the call")]
    a, b = _returned(around.body), _returned(around.orelse or _following(around, path))
    if a is not None and b is not None:
        return _choices("return ", where, a, b, many)
    if len(around.body) == 1 and len(around.orelse) <= 1:
        then = _assigned(around.body[0])
        other = _assigned(around.orelse[0]) if around.orelse else then and (then[0], _name(then[0]))
        if then and other and then[0] == other[0]:
            return _choices(f"{then[0]} = ", where, then[1], other[1], many)
    if many:
        return []
    return [(f"lax.cond({where}, true_fun, false_fun, {name})", "run one of two functions")]


def _returned(statements: list[Any]) -> Any:
    """What statements return; an `if` among them, or an `elif`, is a choice of its own."""
    match statements:
        case [ast.Return(value=value), *_]:
            return value
        case [ast.If(test=test, body=body, orelse=orelse), *rest]:
            a, b = _returned(body), _returned(orelse or rest)
            if a is not None and b is not None and _is_array(a) and _is_array(b):
                return _call("jnp.where", elementwise(test), a, b)
    return None


def _following(node: Any, path: list[Any]) -> list[Any]:
    """The statements after a statement, in its block."""
    for outer in path[path.index(node) + 1 :][:1] if node in path else ():
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(outer, block, None)
            if isinstance(statements, list) and node in statements:
                return statements[statements.index(node) + 1 :]
    return []


def _name(text: str) -> Any:
    return ast.parse(text, mode="eval").body


def _assigned(node: Any) -> tuple[str, Any] | None:
    """The one name that a statement assigns to, and the value."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            return name, ast.BinOp(_name(name), op, value)
    return None


def _loop(around: ast.While, where: str) -> list[Way]:
    """A loop over one variable is written out; another is named."""
    only = _assigned(around.body[0]) if len(around.body) == 1 else None
    if only is None:
        return [
            ("lax.while_loop(cond_fun, body_fun, x)", f"cond_fun gives {where}"),
            (f"lax.cond({where}, true_fun, false_fun, x)", "run one of two functions, once"),
        ]
    name, value = only
    body = _text(value)
    code = f"{name} = lax.while_loop(lambda {name}: {where}, lambda {name}: {body}, {name})"
    once = f"{name} = lax.cond({where}, lambda: {body}, lambda: {name})"
    return [(code, "repeat as long as it holds"), (once, "one step, if it holds")]


# ---- Python's own functions ---------------------------------------------------------------------
_OF_ONE = {
    "max": "jnp.max", "min": "jnp.min", "any": "jnp.any", "all": "jnp.all", "sorted": "jnp.sort",
    "sum": "jnp.sum",
}  # fmt: skip
_OF_TWO = {"max": "jnp.maximum", "min": "jnp.minimum"}


def _builtin(node: ast.Call, traced: bool) -> list[Way]:
    """`max(x)` as `jnp.max(x)`."""
    name, values = node.func.id, node.args  # type: ignore[attr-defined]
    if name == "bool" and len(values) == 1:
        way = (f"{_operand(values[0])}.astype(bool)", "an array of truth values")
        return [way] if traced else []
    if name in _OF_TWO and len(values) > 1 and not node.keywords:
        made = values[0]
        for value in values[1:]:
            made = _call(_OF_TWO[name], made, value)
        return [(_text(made), f"in place of Python's {name}")]
    if name not in _OF_ONE or len(values) != 1:
        return []
    value, reverse = values[0], [k for k in node.keywords if k.arg == "reverse"]
    if len(node.keywords) != len(reverse):
        return []  # key=, default=
    if isinstance(value, ast.GeneratorExp):
        value = _call("jnp.array", ast.ListComp(value.elt, value.generators))
    code = _text(_call(_OF_ONE[name], value)) + ("[::-1]" if reverse else "")
    return [(code, f"in place of Python's {name}")]


_OF_MATH = {"fabs": "abs", "pow": "power", "ldexp": "ldexp", "fmod": "fmod", "dist": ""}


def converted(at: Any, function: str) -> list[Way]:
    """What to write for `math.sin(x)`, `float(x)`, `x.item()`, `x.tolist()`."""
    path = found(at)
    match path[0] if path else None:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=name), args=values):
            name = _OF_MATH.get(name, name)
            return [(_text(_call(f"jnp.{name}", *values)), "in place of math: it takes arrays")]
        case ast.Call(func=ast.Name(id="float" | "int" | "complex" as name), args=[value]):
            return [(f"{_operand(value)}.astype({name})", "another dtype; no value is needed")]
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name == function:
            return _read(_operand(value), name)
    return []


def _read(array: str, method: str) -> list[Way]:
    """An array in place of what `x.item()` and the like give."""
    ways = {
        "item": (f"{array}.reshape(())", "a 0-d array, which is a number for all functions"),
        "tolist": (f"list({array})", "its elements; an array can be indexed as it is"),
        "tobytes": (f"{array}.reshape(-1).view('uint8')", "its bytes as an array"),
    }
    return [ways[method]] if method in ways else []


# ---- integers -----------------------------------------------------------------------------------
def integer(at: Any, name: str) -> list[Way]:
    """What to write for `values[i]` of a list, and for `range(n)`."""
    path = found(at)
    match path[0] if path else None:
        case ast.Subscript(slice=ast.Slice()) | ast.Subscript(value=ast.Constant()):
            return []  # an array takes no traced bound either, and there are none of text
        case ast.Subscript(value=values, slice=index):
            if len(path) > 1 and isinstance(path[1], ast.Call) and path[1].func is path[0]:
                operands = [_text(a) for a in path[1].args]
                code = f"lax.switch({', '.join([_text(index), _text(values), *operands])})"
                return [(code, "run one of several functions")]
            return [(f"jnp.asarray({_text(values)})[{_text(index)}]", "index an array, not a list")]
        case ast.Call(func=ast.Name(id="range"), args=bounds):
            return _counted(path, [_text(b) for b in bounds])
    return []


def _counted(path: list[Any], bounds: list[str]) -> list[Way]:
    first, last = bounds[:2] if len(bounds) > 1 else ("0", bounds[0])
    if len(bounds) == 3:
        count = last if first == "0" else f"({last} - {first})"
        first, last = "0", f"{count} // {bounds[2]}"
    code = f"lax.fori_loop({first}, {last}, body, x)"
    around = path[1] if len(path) > 1 else None
    if isinstance(around, ast.For) and len(around.body) == 1 and len(bounds) < 3:
        only = _assigned(around.body[0])
        if only is not None and isinstance(around.target, ast.Name):
            name, value = only
            body = f"lambda {around.target.id}, {name}: {_text(value)}"
            code = f"{name} = lax.fori_loop({first}, {last}, {body}, {name})"
    return [(code, "loop a traced number of times")]


def sliced(at: Any, traced: Sequence[str], ndim: int) -> list[Way]:
    """What to write for `x[i : i + 2]`, of known length, and for `x[:n]`, of `ndim` axes.

    `traced` are the names of arguments that have no value.
    """
    path = found(at)
    match path[0] if path else None:
        case ast.Subscript(value=array, slice=ast.Slice(lower, ast.BinOp() as end, None)) if lower:
            parts = {type(end.op): (_text(end.left), end.right)}
            start, size = parts.get(ast.Add, ("", lower))
            names = [node.id for node in ast.walk(size) if isinstance(node, ast.Name)]
            if start == _text(lower) and not set(names) & set(traced):
                code = _call("lax.dynamic_slice_in_dim", array, lower, size)
                return [(_text(code), "its length is known; the start is kept within bounds")]
        case ast.Subscript(value=array, slice=ast.Slice(None, end, None)) if end:
            name, last = _text(array), ".T" if ndim > 1 else ""  # the mask is along the last axis
            mask = f"jnp.arange({name}.shape[0]) < {_text(end)}"
            code = f"jnp.where({mask}, {name}{last}, 0){last}"
            return [(code, "zeros behind it: the shape is kept")]
    return []


# ---- operators ----------------------------------------------------------------------------------
def converting(at: Any, dtype: str) -> str:
    """The operation being evaluated, its array converted: `x.astype(float) * 2**31`.

    `x.astype(float)` where there is not exactly one operation between an array and a number.
    """
    path = found(at)
    node = path[0] if path else None
    if isinstance(node, ast.Call) and _text(node.func).endswith("arange"):
        keyword = ast.keyword("dtype", _name(dtype))
        return _text(ast.Call(node.func, node.args, [*node.keywords, keyword]))
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else []
    arrays = [i for i, side in enumerate(sides) if not _is_number(side)]
    if len(arrays) != 1:
        return f"x.astype({dtype})"
    converted = ast.Attribute(sides[arrays[0]], "astype")
    sides[arrays[0]] = ast.Call(converted, [_name(dtype)], [])
    return _text(ast.BinOp(sides[0], node.op, sides[1]))


def _is_number(node: Any) -> bool:
    """Whether an expression is made of numbers alone, as 2**31 is."""
    parts = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    return all(isinstance(each, parts) for each in ast.walk(node))


# ---- calls --------------------------------------------------------------------------------------
def _called(at: Any) -> Any:
    path = found(at)
    return path[0] if path and isinstance(path[0], ast.Call) else None


def sized(at: Any, parameter: str) -> str:
    """A call whose result's size depends on values, with a parameter that fixes it."""
    node = _called(at)
    array = _receiver(node) if node is not None else None
    if not isinstance(array, (ast.Name, ast.Attribute)):
        return ""
    size = _name(f"{_text(array)}.size" if parameter == "size" else "length")
    return _text(ast.Call(node.func, node.args, [*node.keywords, ast.keyword(parameter, size)]))


def applied(at: Any) -> str:
    """`grad(loss(x))`, where the function itself was meant, as `grad(loss)(x)`."""
    node = _called(at)
    inner = node.args[0] if node is not None and node.args else None
    if not isinstance(inner, ast.Call):
        return ""
    transformed = ast.Call(node.func, [inner.func, *node.args[1:]], node.keywords)
    return _text(ast.Call(transformed, inner.args, inner.keywords))


def argument(at: Any) -> str:
    """The first argument of the call being evaluated; "" where there is none."""
    node = _called(at)
    return _operand(node.args[0]) if node is not None and node.args else ""


def renamed(at: Any, old: str, new: str) -> str:
    """The call being evaluated, with another keyword; "" where there is none."""
    node = _called(at)
    if node is None or old not in [k.arg for k in node.keywords]:
        return ""
    keywords = [ast.keyword(new if k.arg == old else k.arg, k.value) for k in node.keywords]
    return _text(ast.Call(node.func, node.args, keywords))


def kept(at: Any, name: str) -> str:
    """A call whose result is written to an argument, `add(x, y, out=z)`, as `z = add(x, y)`."""
    node = _called(at)
    target = next((k.value for k in node.keywords if k.arg == name), None) if node else None
    if not isinstance(target, (ast.Name, ast.Attribute)):
        return ""
    rest = [k for k in node.keywords if k.arg != name]
    return f"{_text(target)} = {_text(ast.Call(node.func, node.args, rest))}"


def changed(at: Any, **keywords: bool) -> str:
    """A call that gives a changed array, with these keywords, and assigned: `x = x.sort()`."""
    node = _called(at)
    if node is None:
        return ""
    rest = [k for k in node.keywords if k.arg not in keywords]
    added = [ast.keyword(name, ast.Constant(value)) for name, value in keywords.items()]
    code = _text(ast.Call(node.func, node.args, [*rest, *added]))
    array = _receiver(node)
    return f"{_text(array)} = {code}" if isinstance(array, (ast.Name, ast.Attribute)) else ""


def method_code(at: Any, way: str, names: Sequence[str]) -> str:
    """`way` with the user's array for `{x}`, and what a method was given for `names`."""
    node = _called(at)
    array = _receiver(node) if node is not None else None
    given = dict(zip(names, map(_text, node.args if node is not None else ())))
    if not isinstance(array, (ast.Name, ast.Attribute)) or len(given) < len(names):
        return way.format(x="x", **{name: name for name in names})
    return way.format(x=_text(array), **given)


def attribute_code(at: Any, way: str) -> str:
    """`way` with the array for `{x}` and, for `{value}`, what was assigned to its attribute."""
    match found(at):
        case [ast.Attribute(value=owner), ast.Assign(value=value), *_]:
            return way.format(x=_text(owner), value=_text(value))
    return way.format(x="x", value="value")


def nested(at: Any) -> str:
    """`maximum(x, y, z)`, which takes two arrays, as `maximum(maximum(x, y), z)`."""
    node = _called(at)
    if node is None or node.keywords or len(node.args) < 3:
        return ""
    first, *rest = node.args
    for each in rest:
        first = ast.Call(node.func, [first, each], [])
    return _text(first)


def of_hloom(at: Any) -> tuple[str, str]:
    """The NumPy function that is called, `linalg.norm`, and the call of hloom's, if it has one."""
    node = _called(at)
    name = _text(node.func) if node is not None else ""
    root, _, path = name.partition(".")
    if root not in ("np", "numpy"):
        return "", ""
    home: Any = sys.modules.get("hloom.numpy")
    for part in path.split("."):
        home = vars(home).get(part) if isinstance(home, ModuleType) else None
    keywords = [keyword for keyword in node.keywords if keyword.arg != "out"]
    call = ast.Call(_name(f"jnp.{path}"), node.args, keywords)
    return path, "" if home is None else _text(call)


def stores(at: Any) -> bool:
    """Whether an assignment to elements is being evaluated."""
    path = found(at)
    kinds = (ast.Assign, ast.AugAssign)
    return len(path) > 1 and isinstance(path[0], ast.Subscript) and isinstance(path[1], kinds)


_MODULES = ("jnp", "np", "numpy", "lax", "hloom", "hloom.numpy", "jax.numpy")


def _receiver(node: ast.Call) -> Any:
    """The array that a method is called on, or that is a function's first argument."""
    match node.func:
        case ast.Attribute(value=owner) if _text(owner) not in _MODULES:
            place = owner.value if isinstance(owner, ast.Subscript) else None
            is_at = isinstance(place, ast.Attribute) and place.attr == "at"
            return place.value if is_at else owner  # type: ignore[union-attr]
    return node.args[0] if node.args else None


def at_place(at: Any, method: str) -> list[Way]:
    """What `x.at[i] + y` may mean: an update, where it has the method, or the element read."""
    path = found(at)
    match path[0] if path else None:
        case ast.BinOp(left=ast.Subscript(value=ast.Attribute(attr="at")) as place, right=value):
            reading: Any = ast.BinOp(_without_at(place), path[0].op, value)
        case ast.AugAssign(target=ast.Subscript(value=ast.Attribute(attr="at")) as place):
            value = path[0].value
            reading = ast.BinOp(_without_at(place), path[0].op, value)
        case ast.Compare(left=ast.Subscript(value=ast.Attribute(attr="at")) as place):
            value = reading = ast.Compare(_without_at(place), path[0].ops, path[0].comparators)
        case _:
            return []
    array = _text(place.value.value)  # type: ignore[attr-defined]
    ways = [(_text(reading), "the element is read without .at")]
    if method:
        code = f"{_text(place)}.{method}({_text(value)})"
        if isinstance(path[0], ast.AugAssign):
            code = f"{array} = {code}"
        ways.insert(0, (code, "a copy, updated there"))
    return ways


def _without_at(place: Any) -> Any:
    return ast.Subscript(place.value.value, place.slice)


def grouped(at: Any, after: int, count: int, kind: str) -> str:
    """The call with `count` of its arguments in one tuple or list; `after` come behind them."""
    node = _called(at)
    if node is None or len(node.args) < after + count:
        return ""
    last = len(node.args) - after
    arguments = node.args[last - count : last]
    made = {"tuple": ast.Tuple, "list": ast.List}[kind](arguments, ast.Load())
    whole = [*node.args[: last - count], made, *node.args[last:]]
    return _text(ast.Call(node.func, whole, node.keywords))
