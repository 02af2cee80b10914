"""Records have owners: only functions in the folder of a record, or below it, store into it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.helpers.sources import PACKAGE, nodes_of, trees
from tests.repository.test_pieces import MARKS, names_of, parameters

REFINEMENT = PACKAGE / "algorithms" / "refinement"

RESULTS = {"BestTarget"}
"""Records that callers hand over to be filled."""

Class = tuple[Path, str]


@cache
def bodies() -> dict[Class, ast.ClassDef]:
    """All classes of the package."""
    return {(path, node.name): node for path, tree in trees().items() for node in nodes_of(tree)
            if isinstance(node, ast.ClassDef)}


@cache
def places(name: str) -> list[Path]:
    """The files that define a class of this name."""
    return [path for path, other in bodies() if other == name]


@cache
def imported_from(path: Path) -> dict[str, Path]:
    """The files that names of a file come from."""
    return {alias.name: PACKAGE.parent / f"{(node.module or '').replace('.', '/')}.py"
            for node in nodes_of(trees()[path]) if isinstance(node, ast.ImportFrom)
            for alias in node.names}


def class_of(name: str, path: Path) -> Class | None:
    """The class that a file means by a name."""
    found = places(name.split(".")[-1])
    near = [place for place in found if place in (path, imported_from(path).get(name))]
    found = near or found
    return (found[0], name.split(".")[-1]) if found else None


def field_of(owner: Class, name: str) -> Class | None:
    """The class of a record's field, if that is a record too; it may be inherited."""
    body = bodies()[owner]
    for field in body.body:
        if isinstance(field, ast.AnnAssign) and ast.unparse(field.target) == name:
            return class_of(ast.unparse(field.annotation), owner[0])
    bases = (class_of(ast.unparse(base), owner[0]) for base in body.bases)
    return next((found for base in bases if base and (found := field_of(base, name))), None)


def stored(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Arrays and words that a function stores into."""
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield node.value
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func)
            if "atomic" in called and "load" not in called:
                yield node.args[0]


def owner_of(target: ast.expr, kinds: dict[str, str], path: Path) -> Class | None:
    """The record that an array or word belongs to."""
    names = []
    while isinstance(target, ast.Attribute):
        names.append(target.attr)
        target = target.value
    if not isinstance(target, ast.Name) or target.id not in kinds:
        return None
    found = class_of(kinds[target.id], path)
    for name in reversed(names):
        inner = field_of(found, name) if found else None
        found = inner or found
    return found


def foreign_stores(path: Path) -> Iterator[str]:
    """Stores of a file's kernels into records of folders that it is not in."""
    for node in nodes_of(trees()[path]):
        if isinstance(node, ast.FunctionDef) and names_of(node.decorator_list) & MARKS:
            kinds = parameters(node)
            for target in stored(node):
                owner = owner_of(target, kinds, path)
                if owner and owner[1] not in RESULTS and owner[0].parent not in path.parents:
                    yield f"{path.relative_to(PACKAGE)}: {node.name} stores into {owner[1]}"


def test_only_the_folder_of_a_record_stores_into_it() -> None:
    assert [store for path in trees() for store in foreign_stores(path)] == []


def test_stores_are_found() -> None:
    own, other = REFINEMENT / "moves/state.py", PACKAGE / "algorithms/incremental/placing.py"
    node = ast.parse("moves.part[v] = 0\natomic_next(state.moves, Moves.moves)\nx = moves.part[v]")
    function = ast.FunctionDef("f", ast.arguments([], [], None, [], [], None, []), node.body, [])
    kinds = {"moves": "Moves", "state": "Accounting"}
    for path in (own, other):
        owners = [owner_of(target, kinds, path) for target in stored(function)]
        assert owners == 2 * [(REFINEMENT / "moves" / "state.py", "Moves")]
