"""Every primitive is whole: six rules, a docstring with a type arrow, a public function, a test."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

import hloom
from hloom.core import Primitive
from hloom.ops.elementwise import Elementwise


def modules():
    for package in (hloom.ops, hloom.control):
        for info in pkgutil.iter_modules(package.__path__):
            yield importlib.import_module(f"{package.__name__}.{info.name}")


PRIMITIVES = {
    value.name: (value, module)
    for module in modules()
    for name, value in sorted(vars(module).items())
    if isinstance(value, Primitive) and module.__name__ not in ("hloom.ops.elementwise",)
}

# No jvp rule applies these to a tangent: their results have no derivative, or it is made of other
# operations (a gather, a product), so there is nothing to transpose.
NOT_LINEAR = {
    "argmax", "argmin", "argsort", "cumlogsumexp", "cummax", "cummin", "cumprod",
    "order_statistics", "reduce", "reduce_and", "reduce_max", "reduce_min", "reduce_or",
    "reduce_prod", "reduce_window", "reduce_window_max", "reduce_window_min", "reduce_xor",
    "scatter_apply", "scatter_max", "scatter_min", "searchsorted", "sort", "top_k", "while",
}  # fmt: skip

# Applied by the rules of another primitive only, whose tests reach them.
REACHED_THROUGH = {
    "reduce_window_pick_max": "reduce_window_max",
    "reduce_window_pick_min": "reduce_window_min",
}


def own(primitive: Primitive, rule: str) -> bool:
    """Whether the rule is not the one that says that it is missing."""
    return getattr(type(primitive), rule) is not getattr(Primitive, rule)


def test_there_are_primitives():
    assert len(PRIMITIVES) > 100


@pytest.mark.parametrize("name", PRIMITIVES)
def test_a_primitive_has_its_rules(name):
    primitive, _ = PRIMITIVES[name]
    missing = [r for r in ("infer", "numpy", "emit", "jvp", "batch") if not own(primitive, r)]
    assert not missing, f"{name} has no rule {missing}"


def test_what_is_linear_has_a_transpose_and_nothing_else():
    without = {
        n
        for n, (p, _) in PRIMITIVES.items()
        if not isinstance(p, Elementwise) and not own(p, "transpose")
    }
    assert without - NOT_LINEAR == set()
    assert {n for n in NOT_LINEAR if n in PRIMITIVES} - without <= {"while"}


@pytest.mark.parametrize(
    "name", [n for n, (p, _) in PRIMITIVES.items() if type(p) is not Elementwise]
)
def test_a_structured_primitive_shows_its_types_in_an_arrow(name):
    primitive, _ = PRIMITIVES[name]
    assert "-->" in (type(primitive).__doc__ or ""), f"{type(primitive).__name__} has no arrow"


def test_every_primitive_is_named_in_a_test():
    root = Path(__file__).parent.parent
    text = "".join(
        path.read_text()
        for folder in ("tests", "property_tests")
        for path in root.glob(f"{folder}/**/*.py")
    )
    unnamed = [n for n in PRIMITIVES if REACHED_THROUGH.get(n, n) not in text]
    assert not unnamed, f"no test names {unnamed}"
