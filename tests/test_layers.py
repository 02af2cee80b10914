"""Imports go down only, file by file, and each compiler has one door.

Every folder has a layer; a file may stand apart from its folder.  A module imports its own unit and
lower layers, and no modules import each other in a circle, not even for types or inside a function.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "portpart"
MODULES = sorted(PACKAGE.rglob("*.py"))

# From the lowest layer to the highest.  An entry is a unit: one module, or with /* the modules of a
# folder that have no entry of their own.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("options",),
    ("backends/owners", "backends/interrupts"),
    ("backends/cache_folder",),
    ("backends/language/*",),
    ("backends/*",),
    ("backends/communication/*",),
    ("backends/cpu/*", "backends/cuda/*"),
    ("backends",),
    ("primitives/*",),
    ("graphs/html",),
    ("graphs/*",),
    ("io/text/*",),
    ("io/formats/*",),
    ("io/netlist/*",),
    ("io/netlist/verilog/*",),
    ("io/netlist/blif", "io/netlist/aiger"),
    ("io/*",),
    ("graphs/convert", "graphs/convert_mesh", "graphs/convert_nets"),
    ("graphs/constructors", "graphs/subgraphs", "graphs/row_blocks", "io/writing",
     "io/writing_meshes"),
    ("io",),
    ("metrics/*", "generators/*", "algorithms/balance/known"),
    ("algorithms/coarsening/*", "algorithms/balance/limits", "algorithms/edits/*"),
    ("algorithms/objectives/*",),
    ("algorithms/placement/swap_rounds",),
    ("algorithms/placement/swaps",),
    ("algorithms/placement/traffic",),
    ("algorithms/refinement/options", "algorithms/refinement/sizes",
     "algorithms/refinement/figures"),
    ("algorithms/refinement/moves/state", "algorithms/refinement/gains/state",
     "algorithms/refinement/blocks/state", "algorithms/refinement/incumbent/state",
     "algorithms/refinement/rebalancing/state"),
    ("algorithms/refinement/level",),
    ("algorithms/refinement/piece",),
    ("algorithms/refinement/blocks/*", "algorithms/refinement/moves/*"),
    ("algorithms/refinement/incumbent/*",),
    ("algorithms/refinement/gains/*",),
    ("algorithms/refinement/rebalancing/*",),
    ("algorithms/refinement/propagation/*",),
    ("algorithms/refinement/*",),
    ("algorithms/refinement/local/*",),
    ("algorithms/refinement/refiner",),
    ("algorithms/refinement/prefix/*",),
    ("algorithms/refinement/nets/*", "algorithms/refinement/ranks/*"),
    ("algorithms/incremental/*",),
    ("algorithms/balance/*", "algorithms/initial/*"),
    ("algorithms/multilevel/*",),
    ("algorithms/portpart", "algorithms/portpart_nets", "algorithms/jet", "algorithms/gkway",
     "algorithms/igkway", "algorithms/gpmetis"),
    ("algorithms/placement/*",),
    ("algorithms/integrated_mapping", "algorithms/multisection"),
    ("algorithms/*",),
    ("api/version",),
    ("api/*",),
    ("compat/*", "compat/pymetis/*", "plot/*"),
    ("",),
    ("cli/*",),
    ("__main__",),
)
FLOOR = {unit: floor for floor, units in enumerate(LAYERS) for unit in units}

RECIPES = ("portpart", "jet", "gkway", "igkway", "gpmetis", "integrated_mapping",
           "multisection")

TOP = {"__init__", "__main__", "errors", "options"}
"""The only modules beside the folders."""

DOORS = {
    "numba": "portpart/backends/cpu/",
    "llvmlite": "portpart/backends/cpu/",
    "cupy": "portpart/backends/cuda/",
    "cupyx": "portpart/backends/cuda/",
    "cuda": "portpart/backends/cuda/",
}


def place_of(path: Path) -> str:
    """Return the place of a file in the package: ``io/text/tokens``, a folder for its __init__."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return "/".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit_of(path: Path) -> str:
    """Return the entry of LAYERS that a file belongs to."""
    place = place_of(path)
    folder = path.relative_to(PACKAGE).parent.as_posix()
    return place if place in FLOOR else f"{folder}/*"


@functools.cache
def file_of(module: str) -> Path | None:
    """Return the file of a module of the package, None if there is no such module."""
    path = ROOT / module.replace(".", "/")
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.exists():
            return file
    return None


@functools.cache
def imports(path: Path) -> tuple[tuple[str, int], ...]:
    """Return (module, line) of every import, wherever it stands in the file and whatever for."""
    return tuple(_imports(ast.parse(path.read_text())))


def _imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                yield (module if file_of(module) else str(node.module)), node.lineno


def own_imports(path: Path) -> Iterator[tuple[Path, int]]:
    """Yield the files of the package that a file imports, and the lines."""
    for module, line in imports(path):
        if module.split(".")[0] == "portpart":
            file = file_of(module)
            assert file is not None, f"{path}:{line}: {module} is not a module"
            yield file, line


def test_every_module_has_a_layer() -> None:
    units = {unit_of(path) for path in MODULES}
    assert units <= FLOOR.keys(), f"no layer for {sorted(units - FLOOR.keys())}"
    assert FLOOR.keys() <= units, f"nothing in {sorted(FLOOR.keys() - units)}"


def test_only_these_modules_are_beside_the_folders() -> None:
    assert {path.stem for path in PACKAGE.glob("*.py")} == TOP


@pytest.mark.parametrize("path", MODULES, ids=place_of)
def test_module_imports_only_its_own_unit_and_lower_layers(path: Path) -> None:
    own = unit_of(path)
    for file, line in own_imports(path):
        other = unit_of(file)
        allowed = FLOOR[other] < FLOOR[own] or other == own
        assert allowed, f"{path}:{line}: {own} (layer {FLOOR[own]}) imports {place_of(file)}"


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {path: {file for file, _ in own_imports(path)} - {path} for path in MODULES}
    graph[PACKAGE / "__init__.py"] = set()  # its names are found when they are asked for
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(place_of(path) for path in error.args[1]))


@pytest.mark.parametrize("path", MODULES, ids=place_of)
def test_compilers_are_imported_behind_their_door_only(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    for imported, line in imports(path):
        door = DOORS.get(imported.split(".")[0], "")
        assert place.startswith(door), f"{path}:{line}: {imported} belongs in {door}*"


def test_recipes_do_not_import_each_other() -> None:
    files = {PACKAGE / "algorithms" / f"{name}.py" for name in RECIPES}
    for path in files:
        for file, line in own_imports(path):
            assert file not in files - {path}, f"{path}:{line}: {place_of(file)}"


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
