"""The direction of imports, and commands that answer --help without loading a framework."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# What a package may import of the others; "pytrain.encoder" allows that one module.
ALLOWED = {
    "warehouse": set(),
    "pytrain": {"warehouse"},
    "pyeval": {"warehouse", "pytrain.encoder"},
}
HEAVY = ("torch", "transformers", "tokenizers", "numba", "faiss", "sklearn", "matplotlib", "dbt")


def imported(path: Path, source: str | None = None) -> set[str]:
    """Dotted names of ours that a file imports, at any depth, relative imports resolved."""
    package = path.relative_to(ROOT).parent.parts if path.is_relative_to(ROOT) else ()
    names = set()
    for node in ast.walk(ast.parse(source if source is not None else path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            # `from pytrain import encoder` names a module too.
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return {name for name in names if name.split(".")[0] in ALLOWED}


def wrong(package: str, names: set[str]) -> set[str]:
    """Those of the names that the package may not import."""
    allowed = ALLOWED[package] | {package}
    return {
        name
        for name in names
        if not any(name == may or name.startswith(f"{may}.") for may in allowed)
    }


@pytest.mark.parametrize("package", ALLOWED)
def test_data_flows_one_way_between_the_packages(package):
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    found = {str(file.relative_to(ROOT)): wrong(package, imported(file)) for file in files}
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("package", "line", "refused"),
    [
        ("warehouse", "from pytrain.config import Settings", True),
        ("pytrain", "import pyeval", True),
        ("pyeval", "from pytrain import encoder", False),
        ("pyeval", "from pytrain.encoder import Encoder", False),
        ("pyeval", "def late():\n    from pytrain import run", True),
        ("pyeval", "from ..pytrain import mlm", True),
    ],
)
def test_the_rule_sees_imports_of_every_form(package, line, refused):
    assert bool(wrong(package, imported(ROOT / package / "made_up.py", line))) is refused


@pytest.mark.parametrize("command", ["warehouse", "pytrain", "pyeval"])
def test_help_loads_no_framework(command):
    """A fresh interpreter runs the command's --help and names what it has loaded."""
    code = (
        f"import sys; from {command}.cli import cli; cli(['--help'], standalone_mode=False);"
        f" print('loaded', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert "Usage" in done.stdout
    assert done.stdout.splitlines()[-1] == "loaded []"


@pytest.mark.parametrize("package", ["pytrain", "pyeval"])
def test_idle_threads_are_told_to_sleep_before_torch_loads(package):
    code = f"import os, sys, {package}; print(os.environ['GOMP_SPINCOUNT'], 'torch' in sys.modules)"
    for given, wanted in ((None, "1000"), ("7", "7")):
        env = {k: v for k, v in os.environ.items() if k != "GOMP_SPINCOUNT"}
        env |= {"GOMP_SPINCOUNT": given} if given else {}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [wanted, "False"]
