"""How the text of an error is written: who, rule, what was given, where, way out.

The facts that errors get (`Where`, `Traced`) and the few functions that write them
down.  Nothing here is fast: it runs after a program went wrong.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from hloom.errors.rewriting import decorated, uses_attributes


class Where(NamedTuple):
    """The user's function that a transformation runs, and where it is defined.

    `function` is the transform's name when there is no function; `file` and `line` may be unknown.
    """

    function: str
    file: str | None = None
    line: int | None = None
    transform: str = ""

    @property
    def place(self) -> str:
        """`train.py:40`, or "an unknown place"."""
        return f"{self.file}:{self.line}" if self.file else "an unknown place"

    def __str__(self) -> str:
        call = f"{self.transform}({self.function})" if self.transform else self.function
        return f"{call} at {self.place}" if self.file else call


class Traced(NamedTuple):
    """What is known of a traced value.

    `arguments` names the arguments it depends on (`neg`, `params['w']`) and `positions` numbers
    them, where known; `made_at` lists the operations it came from: (text, file, line, function);
    `at` is the user's current line: anything with `file`, `line` and `function`;
    `hashable` says whether the arguments were numbers, which may be static.
    """

    aval: Any
    where: Where
    arguments: Sequence[str] = ()
    made_at: Sequence[tuple[str, str, int, str]] = ()
    positions: Sequence[int] = ()
    at: Any = None
    hashable: bool = True

    def beside(self, other: Traced) -> Self:
        """Both values, where neither is known: what they depend on together."""
        new = [i for i, name in enumerate(other.arguments) if name not in self.arguments]
        places = [other.positions[i] for i in new if i < len(other.positions)]
        return self._replace(
            arguments=[*self.arguments, *[other.arguments[i] for i in new]],
            positions=[*self.positions, *places],
            hashable=self.hashable and other.hashable,
        )

    def story(self) -> list[str]:
        """Sentences that say why Python cannot see the value."""
        return [*self._where(), *self._operations()]

    def _where(self) -> list[str]:
        place = f" at {self.where.place}" if self.where.file else ""
        transform = f" for {self.where.transform}" if self.where.transform else ""
        name = self.where.function
        text = f"The error occurred while tracing the function {name}{place}{transform}."
        if self.arguments:
            plural = "s" if len(self.arguments) > 1 else ""
            names = listed([f"`{name}`" for name in self.arguments])
            text += (
                " This concrete value was not available in Python because it depends on the "
                f"value{plural} of the argument{plural} {names}."
            )
        return [text]

    def _operations(self) -> list[str]:
        if not self.made_at:
            return []
        lines = ["This value became a tracer due to hloom operations on these lines:"]
        for text, file, line, function in self.made_at[-5:]:
            lines += [f"  operation {text}", f"    from line {file}:{line} ({function})"]
        return lines


def explain(
    rule: str,
    *,
    ways: Iterable[tuple[str, str]] = (),
    traced: Traced | None = None,
    at: Any = None,
    page: str = "",
) -> str:
    """Put the parts of a text together.

    `at` is the user's current line (anything with `file`, `line` and `function`); `ways`
    are ways out as (code, what it does); `page` is the class whose docstring is the help page.
    """
    lines = [rule]
    at = traced.at if traced is not None and at is None else at
    if at is not None:
        text = source_line(at)
        text = f": {text}" if 0 < len(text) <= 100 else ""
        lines.append(f"  at {at.file}:{at.line} ({at.function}){text}")
    if traced is not None:
        lines += traced.story()
    ways = list(ways)
    if ways:
        width = max(len(code) for code, _ in ways)
        lines.append("Ways out:" if len(ways) > 1 else "Way out:")
        lines += [f"  {code.ljust(width)}   # {why}" if why else f"  {code}" for code, why in ways]
    if page:
        lines.append(f"See help(hloom.errors.{page}).")
    return "\n".join(lines)


class Explained(Exception):
    """Builds its text from a rule, facts and ways out."""

    @classmethod
    def _of(
        cls,
        rule: str,
        *,
        ways: Iterable[tuple[str, str]] = (),
        traced: Traced | None = None,
        at: Any = None,
    ) -> Self:
        return cls(explain(rule, ways=ways, traced=traced, at=at, page=cls.__name__))


def binary_size(size: int) -> str:
    """Bytes in the unit that is easiest to read: `3.6 TiB`."""
    power = min(max((size.bit_length() - 1) // 10, 0), 6)
    unit = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")[power]
    return f"{size / 1024**power:,.1f} {unit}" if power else f"{size} bytes"


def listed(words: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def article(noun: str) -> str:
    """`a list`, `an Array`."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


# ---- ways out that several errors share ------------------------------------------------------


def static_ways(
    traced: Traced, why: str = "a Python value; compiled once for each"
) -> list[tuple[str, str]]:
    """Make the argument a Python value, where the transformation has a parameter for that."""
    where, plain = traced.where, [name for name in traced.arguments if name.isidentifier()]
    if not plain or len(plain) < len(traced.arguments) or len(plain) > 2 or not traced.hashable:
        return []
    if uses_attributes(where.file, where.line, plain):
        return []
    function = "f" if where.function.startswith("<") else where.function
    positions = tuple(traced.positions)
    if where.transform in ("jit", "make_jaxpr") and len(positions) == len(plain):
        option, value = "static_argnums", repr(positions)
    elif where.transform == "jit":
        option, value = "static_argnames", repr(plain[0] if len(plain) == 1 else tuple(plain))
    else:
        return []
    decorator = decorated(where.file, where.line, option, value)
    return [(decorator or f"{where.transform}({function}, {option}={value})", why)]


# ---- the user's own line, read and rewritten -------------------------------------------------


def source_line(at: Any) -> str:
    """The text of the user's current line, or "" where there is none."""
    return linecache.getline(at.file, at.line).strip() if at is not None else ""


def _parse(line: str) -> ast.AST | None:
    """The syntax tree of one line; the head of a compound statement gets a body."""
    line = line.removeprefix("el") if line.startswith("elif") else line
    for text in (line, line + " pass"):
        try:
            return ast.parse(text)
        except SyntaxError:
            continue
    return None


def _only(nodes: list[Any]) -> Any:
    return nodes[0] if len(nodes) == 1 else None


def masked_read(line: str) -> tuple[str, str, str] | None:
    """A selection by a mask, `x[x < 0]`: its text, its array and its mask.

    None when there is not exactly one.
    """
    tree = _parse(line)
    masks = (ast.Compare, ast.BinOp, ast.UnaryOp, ast.Name, ast.Call)
    found = [
        node
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, ast.Subscript)
        and isinstance(node.slice, masks)
        and not (isinstance(node.value, ast.Attribute) and node.value.attr == "at")
    ]
    node = _only([n for n in found if isinstance(n.slice, ast.Compare)]) or _only(found)
    if node is None:
        return None
    return ast.unparse(node), ast.unparse(node.value), ast.unparse(node.slice)


_UPDATES: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}


def element_update(
    line: str, read: str = "{}", scope: Mapping[str, Any] = MappingProxyType({})
) -> tuple[str, str] | None:
    """Rewrite an assignment to elements: `x[0] = 10` to `x = x.at[0].set(10)`.

    `read` is how the array is to be read, `jnp.asarray({})` where it is NumPy's; `scope` has the
    user's names.
    The answer is (its text, what to write); None when there is not exactly one assignment.
    """
    nodes = ast.walk(tree) if (tree := _parse(line)) else ()
    node = _only([n for n in nodes if isinstance(n, (ast.Assign, ast.AugAssign))])
    target = node and (_only(node.targets) if isinstance(node, ast.Assign) else node.target)
    if not isinstance(target, ast.Subscript):
        return None
    method = "set" if isinstance(node, ast.Assign) else _UPDATES.get(type(node.op))
    if method is None:
        return None
    array, place = _place(target, scope)
    code = f"{read.format(ast.unparse(array))}.at[{place}].{method}({ast.unparse(node.value)})"
    while isinstance(array, ast.Subscript) and not _of_container(array, scope):
        array, place = _place(array, scope)
        code = f"{read.format(ast.unparse(array))}.at[{place}].set({code})"
    return ast.unparse(node), f"{ast.unparse(array)} = {code}"


def _place(target: ast.Subscript, scope: Mapping[str, Any]) -> tuple[ast.expr, str]:
    """The array, and the index without its brackets: `x` and `0, 1` for `x[0][1]`."""
    array = target.value
    index = ast.unparse(target).removeprefix(ast.unparse(array))[1:-1]
    if not isinstance(array, ast.Subscript) or _of_container(array, scope):
        return array, index
    if index == "()" or not _is_whole(array.slice, scope):
        return array, index
    array, before = _place(array, scope)
    return array, f"{before}, {index}"


def _is_whole(index: ast.expr, scope: Mapping[str, Any]) -> bool:
    """Whether an index is made of integers, as far as can be seen: another may hide behind it."""
    match index:
        case ast.Tuple(elts=parts):
            return bool(parts) and all(_is_whole(part, scope) for part in parts)
        case ast.Name(id=name):
            return isinstance(scope.get(name, 0), int)
        case ast.BinOp(left=left, right=right):
            return _is_whole(left, scope) and _is_whole(right, scope)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_whole(operand, scope)
    return isinstance(index, ast.Constant) and isinstance(index.value, int)


def _of_container(node: ast.Subscript, scope: Mapping[str, Any]) -> bool:
    """Whether this is an element of a list or a dict of arrays."""
    is_text = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    return is_text or isinstance(_known(node.value, scope), (list, dict))


def _known(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    """What a name, or an element of nested lists and dicts, refers to; None where that is unknown.

    Nothing of the user's is called.
    """
    match node:
        case ast.Name(id=name):
            return scope.get(name)
        case ast.Attribute(value=owner, attr=name):
            return getattr(_known(owner, scope), "__dict__", {}).get(name)
        case ast.Subscript(value=owner, slice=ast.Constant(value=key)):
            found = _known(owner, scope)
            places = dict(enumerate(found)) if isinstance(found, list) else found
            return places.get(key) if isinstance(places, dict) else None
    return None


def numpy_call(line: str) -> str | None:
    """The name of the one NumPy function called in the line: `sin` in `y = np.sin(x)`."""
    tree = _parse(line)
    names = {
        node.func.attr
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("np", "numpy")
    }
    return names.pop() if len(names) == 1 else None


def index_text(index: Any) -> str:
    """An index as the user would write it; arrays are called `index`."""
    if isinstance(index, tuple):
        text = ", ".join(map(index_text, index))
        return (text + "," if len(index) == 1 else text) or "()"
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step)
        start, stop, step = ("" if part is None else index_text(part) for part in parts)
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
    if index is Ellipsis:
        return "..."
    short = repr(index)
    plain = index is None or isinstance(index, (bool, int, str, list))
    return short if plain and len(short) <= 30 else "index"


def value_text(value: Any) -> str:
    """A number as the user would write it; other values are called `y`."""
    return repr(value) if isinstance(value, (bool, int, float, complex)) else "y"
