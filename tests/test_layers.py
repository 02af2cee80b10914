"""Imports go down only, file by file and through doors, and each compiler has one door.

Every folder belongs to a part of the house, and every part has a layer.  A module imports its own
part and lower layers; in a part of several folders, these have an order, too.  No modules import
each other in a circle, not even for types or inside a function.

The door of a folder is its ``__init__.pyi``: it says in which file each name is that other folders
use.  Names are imported when they are used first (https://scientific-python.org/specs/spec-0001/).
"""

from __future__ import annotations

import ast
import functools
import importlib
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.helpers.each import for_each
from tests.helpers.sources import PACKAGE, ROOT, nodes_of, source_of, tree_of

MODULES = sorted(PACKAGE.rglob("*.py"))

# From the lowest layer to the highest.  An entry is a part: one module, or with /* the modules of a
# folder and of the folders in it that have no entry of their own.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("base/*",),
    ("options",),
    ("backends/*",),
    ("primitives/*",),
    ("graphs/*",),
    ("formats/*", "generators/*", "algorithms/objectives/*", "algorithms/coarsening/*",
     "algorithms/edits/*", "algorithms/initial/*"),
    ("inputs/*", "algorithms/placement/*", "algorithms/refinement/*"),
    ("io/*", "metrics/*", "algorithms/final_balance/*", "algorithms/incremental/*"),
    ("algorithms/multilevel/*",),
    ("algorithms/recipes/*",),
    ("algorithms/mapping/*",),
    ("algorithms/*", "estimate/*"),
    ("api/*",),
    ("compat/*", "plot/*", "sessions/*"),
    ("",),
    ("cli/*",),
    ("__main__",),
)
FLOOR = {unit: floor for floor, units in enumerate(LAYERS) for unit in units}

INSIDE: dict[str, tuple[tuple[str, ...], ...]] = {
    "backends": (("language",), ("programs",), ("communication",), ("cpu", "cuda"), ("",)),
    "graphs": (("",), ("ranks",)),
    "formats": (("text",), ("",), ("netlist", "netlist/verilog")),
    "algorithms/coarsening": (("",), ("ranks",)),
    "compat": (("",), ("pymetis",)),
}
"""The order of the folders of a part, from the lowest to the highest."""

PIECES = (("blocks", "moves"), ("incumbent",), ("gains",), ("rebalancing",), ("prefix", "ranks"),
          ("nets",))
"""The order of the pieces of refinement.  The files of the folder itself are below and above them:
the protocol of a piece is below all, the program of a level above."""

RECIPES = ("portpart", "jet", "gkway", "gpmetis")

TOP = {"__init__", "__main__", "errors", "options"}
"""The only modules beside the folders."""

PUBLIC = {"backends/language", "compat", "compat/pymetis", "generators", "io", "metrics", "plot"}
"""Folders whose door is for users: other folders import further names from the files."""

DOORS = {
    "numba": "portpart/backends/cpu/",
    "llvmlite": "portpart/backends/cpu/",
    "cupy": "portpart/backends/cuda/",
    "cupyx": "portpart/backends/cuda/",
    "cuda": "portpart/backends/cuda/",
}

TYPE_OF_ARRAYS = "portpart/backends/language/arrays.py"
"""Names CuPy's arrays, for type checkers alone."""


def place_of(path: Path) -> str:
    """Return the place of a file in the package: ``io/text/tokens``, a folder for its __init__."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return "/".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit_of(path: Path) -> str:
    """Return the part of the house that a file belongs to: an entry of LAYERS."""
    place = place_of(path)
    if place in FLOOR:
        return place
    folder = path.relative_to(PACKAGE).parent
    parts = [f"{folder.as_posix()}/*",
             *(f"{each.as_posix()}/*" for each in (folder, *folder.parents))]
    return next((part for part in parts if part in FLOOR), parts[0])


@functools.cache
def file_of(module: str) -> Path | None:
    """Return the file of a module of the package, None if there is no such module."""
    path = ROOT / module.replace(".", "/")
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.exists():
            return file
    return None


@functools.cache
def door(module: str) -> dict[str, str]:
    """Return the module of each name that the door of a folder has."""
    stub = ROOT / module.replace(".", "/") / "__init__.pyi"
    if not stub.exists():
        return {}
    return {alias.name: f"{module}.{node.module}"
            for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)
            if node.module for alias in node.names}


@functools.cache
def imports(path: Path) -> tuple[tuple[str, int], ...]:
    """Return (module, line) of every import, wherever it stands in the file and whatever for."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    for node in source_of(path).imports:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        else:
            assert node.level == 0, f"line {node.lineno}: relative import"
            for alias in node.names:
                yield module_of(str(node.module), alias.name), node.lineno


def lines_for_types(path: Path) -> set[int]:
    """Return the lines that only type checkers read."""
    return {line for node in tree_of(path).body
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for each in node.body for line in range(each.lineno, int(each.end_lineno or 0) + 1)}


def module_of(module: str, name: str) -> str:
    """Return the module that a name is in: behind a door, a module itself, or as it says."""
    if name in door(module):
        home = door(module)[name]
        return home if home == f"{module}.{name}" else module_of(home, name)
    return f"{module}.{name}" if file_of(f"{module}.{name}") else module


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


@for_each(MODULES)
def test_module_imports_only_its_own_unit_and_lower_layers(path: Path) -> None:
    own = unit_of(path)
    for file, line in own_imports(path):
        other = unit_of(file)
        allowed = FLOOR[other] < FLOOR[own] or other == own
        assert allowed, f"{path}:{line}: {own} (layer {FLOOR[own]}) imports {place_of(file)}"


def place_inside(path: Path, part: str) -> str:
    """Return the folder of a file in a part; nothing for the part's own files."""
    inside = path.parent.relative_to(PACKAGE / part).as_posix()
    return "" if inside == "." else inside


@pytest.mark.parametrize("part", [*INSIDE, "algorithms/refinement"])
def test_the_folders_of_a_part_have_an_order(part: str) -> None:
    floors = INSIDE.get(part, PIECES)
    floor = {folder: number for number, folders in enumerate(floors) for folder in folders}
    for path in sorted((PACKAGE / part).rglob("*.py")):
        own = place_inside(path, part)
        assert own in floor or part not in INSIDE, f"{path}: no place for {own}"
        for file, line in own_imports(path):
            if file.is_relative_to(PACKAGE / part) and file.name != "__init__.py":
                other = place_inside(file, part)
                known = own in floor and other in floor and other != own
                together = {own, other} in ({"netlist", "netlist/verilog"},)
                assert not known or together or floor[other] < floor[own], f"{path}:{line}"


@for_each(MODULES)
def test_names_of_other_folders_come_through_their_doors(path: Path) -> None:
    for node in source_of(path).imports:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("portpart."):
            file = file_of(str(node.module))
            assert file is not None
            folder = file.parent.relative_to(PACKAGE).as_posix()
            if file.name == "__init__.py" or file.parent in (path.parent, PACKAGE):
                continue
            names = {alias.name for alias in node.names}
            free = {*PUBLIC, "base", "cli", "formats/netlist/verilog"}
            assert folder in free, f"{path}:{node.lineno}: through portpart.{folder}"
            assert not names & door(f"portpart.{folder.replace('/', '.')}").keys(), (
                f"{path}:{node.lineno}: the door of portpart.{folder} has {names}")


@pytest.mark.parametrize("stub", sorted(PACKAGE.rglob("*.pyi")), ids=place_of)
def test_a_door_leads_to_what_it_names(stub: Path) -> None:
    module = ".".join(("portpart", *place_of(stub).split("/"))).rstrip(".")
    names = door(module)
    for name, home in names.items():
        other = file_of(f"{module}.{name}")
        assert other is None or home == f"{module}.{name}", f"{name} is a module, too"
        if "torch" not in home:
            assert hasattr(importlib.import_module(module), name), f"{home} has no {name}"
    used = {(m, n) for path in MODULES for m, n in _names(path)}
    used |= {(home, name) for name, home in door("portpart").items()}
    if place_of(stub) not in PUBLIC | {"", "backends/communication", "backends/cuda"}:
        assert not {name for name in names if (module, name) not in used}, "no folder uses it"


@functools.cache
def _names(path: Path) -> tuple[tuple[str, str], ...]:
    """Return (module, name) of what a file imports from the package, and attributes of modules."""
    imported = [(str(node.module), alias) for node in source_of(path).imports
                if isinstance(node, ast.ImportFrom) for alias in node.names]
    found = [(module, alias.name) for module, alias in imported]
    spaces = {alias.asname or alias.name: f"{module}.{alias.name}" for module, alias in imported
              if file_of(f"{module}.{alias.name}")}
    return (*found, *((spaces[node.value.id], node.attr) for node in nodes_of(tree_of(path))
                      if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
                      and node.value.id in spaces))


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {path: {file for file, _ in own_imports(path)} - {path} for path in MODULES}
    graph[PACKAGE / "__init__.py"] = set()  # its names are found when they are asked for
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(place_of(path) for path in error.args[1]))


@for_each(MODULES)
def test_compilers_are_imported_behind_their_door_only(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    free = lines_for_types(path) if place == TYPE_OF_ARRAYS else set()
    for imported, line in imports(path):
        door = DOORS.get(imported.split(".")[0], "")
        is_right = line in free or place.startswith(door)
        assert is_right, f"{path}:{line}: {imported} belongs in {door}*"


def test_recipes_do_not_import_each_other() -> None:
    files = {PACKAGE / "algorithms" / "recipes" / f"{name}.py" for name in RECIPES}
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
