"""What holds for the package as a whole: what importing it costs, and that jax stays away."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# jaxlib calls `import jax` in some of its functions and swallows the failure, so that a look at
# sys.modules proves nothing where jax is not installed: this notes every attempt.
GUARD = """
import sys, traceback
attempts = []
class Guard:
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] == "jax":
            attempts.append("".join(traceback.format_stack(limit=12)))
sys.meta_path.insert(0, Guard)
"""

NO_ATTEMPTS = """
assert not attempts, attempts[0]
assert "jax" not in sys.modules
"""

PROGRAM = """
import pickle
import numpy as np
import hloom
import hloom.numpy as jnp

def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w) ** 2)

w, x = jnp.ones(3), jnp.arange(6.0).reshape(2, 3)
step = hloom.jit(hloom.value_and_grad(loss))
value, slope = step(w, x)
rows = hloom.vmap(lambda row: loss(w, row[None]))(x)
text = repr(slope) + str(hloom.make_jaxpr(loss)(w, x)) + step.lower(w, x).as_text()
host = [np.asarray(rows), float(value), slope.tolist(), list(rows), rows[0], rows[rows > 0]]
kept = pickle.loads(pickle.dumps(x.astype(jnp.bfloat16).at[0].set(1)))
np.from_dlpack(x)
"""

BY_SCIPY = """
import numpy as np
from hloom.ops.elementary import special_definitions
from hloom.ops.linalg import definitions

special_definitions.lgamma(np.array([2.5]))
definitions.schur(np.eye(3) + 1)
definitions.lu(np.eye(3))
"""

HEAVY = [
    "asyncio", "hloom.testing", "importlib.metadata", "jaxlib.mlir.dialects", "matplotlib", "rich",
    "scipy",
]  # fmt: skip

LIGHT_IMPORT = f"""
import sys, threading
import numpy
before = set(sys.modules)
import hloom, hloom.lax, hloom.numpy
heavy = [name for name in {HEAVY} if name in sys.modules and name not in before]
assert not heavy, heavy
assert threading.active_count() == 1
"""


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs another interpreter on the sources of this checkout, and fails with what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_program_never_tries_to_import_jax(tmp_path: Path) -> None:
    python("-c", GUARD + PROGRAM + NO_ATTEMPTS, cwd=tmp_path)


def test_definitions_by_scipy_never_try_to_import_jax(tmp_path: Path) -> None:
    python("-c", GUARD + BY_SCIPY + NO_ATTEMPTS, cwd=tmp_path)


def test_the_tour_never_tries_to_import_jax(tmp_path: Path) -> None:
    tour = str(ROOT / "docs" / "tour.py")
    run = f"import runpy\nrunpy.run_path({tour!r}, run_name='__main__')\n"
    python("-c", GUARD + run + NO_ATTEMPTS, cwd=tmp_path)


def test_import_loads_nothing_heavy_and_starts_no_thread(tmp_path: Path) -> None:
    python("-c", LIGHT_IMPORT, cwd=tmp_path)


def test_the_testing_package_needs_no_test_runner(tmp_path: Path) -> None:
    names = ["pytest", "hypothesis"]
    run = f"import sys, hloom.testing\nassert not [n for n in {names} if n in sys.modules]\n"
    python("-c", run, cwd=tmp_path)


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "src" / "hloom" / "py.typed").is_file()


def test_no_folder_has_more_than_20_modules() -> None:
    for folder in (ROOT / "src" / "hloom").rglob("*/"):
        modules = [file.name for file in folder.glob("*.py") if file.name != "__init__.py"]
        assert len(modules) <= 20, (folder.name, len(modules))


def test_every_folder_of_the_package_has_its_tests() -> None:
    package, tests = ROOT / "src" / "hloom", ROOT / "tests"
    for folder in (path for path in package.rglob("*/") if path.name != "__pycache__"):
        mirrored = tests / folder.relative_to(package)
        alone = mirrored.parent / f"test_{folder.name}.py"  # for tables and what has one file
        assert list(mirrored.glob("test_*.py")) or alone.is_file(), f"{mirrored} has no tests"


DIALECT = r"\b(rooms?|lends?|kin|stands in|stand in|stands at|stands under|how-manieth)\b"


def test_the_words_are_those_of_the_field() -> None:
    """NumPy's and StableHLO's documentation would not say these; see CONTRIBUTING.md, Style."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for file in [*pages, *(ROOT / "src").rglob("*.py")]:
        found = re.search(DIALECT, file.read_text(encoding="utf-8"))
        assert found is None, f"{file.relative_to(ROOT)}: {found and found.group()}"
