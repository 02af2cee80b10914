"""Imports go down only, and each compiler has one door.  See CONTRIBUTING.md for the layers."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "portpart").rglob("*.py"))

# Longest prefix wins.  A module imports its own unit and units of lower layers.
LAYERS = {
    "portpart.errors": 0,
    "portpart.backends": 1,
    "portpart.primitives": 2,
    "portpart.graph": 2,
    "portpart.topology": 2,
    "portpart.algorithms.teams": 3,
    "portpart.algorithms.tracing": 3,
    "portpart.metrics": 3,
    "portpart.io": 3,
    "portpart.generators": 3,
    "portpart.algorithms.coarsening": 4,
    "portpart.algorithms.initial": 4,
    "portpart.algorithms.refinement": 4,
    "portpart.algorithms": 5,
    "portpart": 6,
}
# modules that belong to the unit of another one
PART_OF = {
    "portpart.exact": "portpart.errors",
    "portpart.arrays": "portpart.graph",
    "portpart.constructors": "portpart.graph",
    "portpart.frames": "portpart.graph",
    "portpart.inputs": "portpart.graph",
    "portpart.networks": "portpart.graph",
    "portpart.rows": "portpart.graph",
    "portpart.ingest": "portpart.graph",
    "portpart.build_graph": "portpart.graph",
    "portpart.check_graph": "portpart.graph",
    "portpart.check_weights": "portpart.graph",
    "portpart.graphs": "portpart.graph",
    "portpart.graphs.elements": "portpart.graph",
    "portpart.graphs.incidence": "portpart.graph",
    "portpart.graphs.mesh": "portpart.graph",
    "portpart.graphs.other_side": "portpart.graph",
}

# (importing unit, imported unit) that go sideways or up, each with its reason
EXCEPTIONS = {
    ("portpart.graph", "portpart.primitives"): "validation runs on the primitives",
    ("portpart.graph", "portpart.io"): "a path is one more thing that holds a graph",
    ("portpart.backends", "portpart.primitives"): "the CPU space sorts with the library's own sort",
}

# files of algorithms/ that are no recipes
SHARED = {"__init__", "clustered", "multilevel", "population", "request", "starts", "teams",
          "tracing"}

DOORS = {
    "numba": "portpart/backends/cpu",
    "llvmlite": "portpart/backends/cpu",
    "cupy": "portpart/backends/cuda",
    "cupyx": "portpart/backends/cuda",
    "cuda": "portpart/backends/cuda",
}


def unit_of(module: str) -> str:
    """Return the entry of LAYERS that `module` belongs to."""
    module = PART_OF.get(module, module)
    while module not in LAYERS:
        module = module.rpartition(".")[0]
    return module


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Yield (module, line) of every import that runs, wherever it stands in the file."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                is_module = (ROOT / submodule.replace(".", "/")).with_suffix(".py").exists()
                is_package = (ROOT / submodule.replace(".", "/")).is_dir()
                yield (submodule if is_module or is_package else str(node.module)), node.lineno


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_module_imports_only_its_own_unit_and_lower_layers(path: Path) -> None:
    own = unit_of(module_name(path))
    for imported, line in imports(path):
        if imported.split(".")[0] != "portpart":
            continue
        other = unit_of(imported)
        allowed = LAYERS[other] < LAYERS[own] or other == own or (own, other) in EXCEPTIONS
        assert allowed, f"{path}:{line}: {own} (layer {LAYERS[own]}) imports {imported}"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_compilers_are_imported_behind_their_door_only(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    for imported, line in imports(path):
        door = DOORS.get(imported.split(".")[0], "")
        assert place.startswith(door), f"{path}:{line}: {imported} belongs in {door}*"


def test_recipes_do_not_import_each_other() -> None:
    files = (ROOT / "portpart" / "algorithms").glob("*.py")
    recipes = {module_name(path): path for path in files if path.stem not in SHARED}
    for name, path in recipes.items():
        for imported, line in imports(path):
            assert imported == name or imported not in recipes, f"{path}:{line}: {imported}"


def modules_after(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter holds after `statement`."""
    report = "import sys; print(*{name.split('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", f"{statement}; {report}"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_importing_portpart_loads_no_compiler() -> None:
    loaded = modules_after("import portpart")
    assert "portpart" in loaded
    assert not loaded & {"numba", "llvmlite", "cupy", "cuda", "networkx", "matplotlib", "torch"}


def test_the_command_line_loads_no_compiler_and_no_drawing() -> None:
    loaded = modules_after("import portpart.cli")
    assert not loaded & {"numba", "llvmlite", "cupy", "scipy", "rich", "pymetis", "matplotlib"}
