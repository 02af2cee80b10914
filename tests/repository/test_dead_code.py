"""Nothing is in the package that only tests or benchmarks use.

A name at the top of a module is used if its module uses it outside its own definition, or another
one imports it and uses it there; a member of a class, if something is read under its name.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from tests.helpers.sources import ROOT, nodes_of, trees
from tests.test_layers import door, module_of

PUBLIC = ("portpart", "portpart.io", "portpart.metrics", "portpart.generators",
          "portpart.generators.shares", "portpart.compat.dgl", "portpart.compat.networkx",
          "portpart.compat.pyg", "portpart.compat.pymetis", "portpart.plot",
          "portpart.backends.language", "portpart.backends.communication",
          "portpart.backends.communication.mpi",
          "portpart.primitives.owners",
          "portpart.graphs.ranks.distribution", "portpart.algorithms.coarsening.ranks.hierarchy",
          "portpart.backends.cuda.nccl")
"""What these export is for users; those of the last six write kernels, and programs for several
ranks."""

FOUND_BY_NAME = {"portpart.cli.": {"command"}, "portpart.formats.": {"parse", "chunks"},
                 "portpart.formats.netlist.": {"parse", "parse_netlist"},
                 "portpart.compat.networkx_backend": {
                     "get_info", "convert_from_nx", "convert_to_nx", "kernighan_lin_bisection"}}
"""What tables of modules, and NetworkX, find in each of them."""

CLICKS = {"help"}
"""Attributes that Click reads."""

DOCUMENTED = {"source", "profile"}
"""What shows a maintainer the code and the times of kernels: docs/ say how."""

NOTEBOOKS = {"_repr_html_"}
"""Attributes that notebooks read."""

NODES = {name.lower() for name in dir(ast)}


@cache
def modules() -> dict[str, ast.Module]:
    """All modules of the package by name."""
    return {path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__").replace(
        "/", "."): tree for path, tree in trees().items()}


def defined(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the names that statements define, but for those of Python itself."""
    for node in body:
        names: list[str] = []
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        yield from ((name, node) for name in names if not name.startswith("__"))


def exported(module: str) -> set[str]:
    """Return the names in ``__all__``, or those of a door."""
    if door(module):
        return set(door(module))
    for node in modules()[module].body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


@cache
def imported(tree: ast.AST) -> dict[str, tuple[str, str]]:
    """Return the module and the name there, by the name here; a module's own name is ''."""
    found = {}
    for node in nodes_of(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                home = module_of(str(node.module), alias.name)
                whole = (home == f"{node.module}.{alias.name}"
                         and alias.name not in door(str(node.module)))
                found[alias.asname or alias.name] = (home, "" if whole else alias.name)
    return found


def uses() -> dict[str, set[str]]:
    """Return the names of each module that are used, there or elsewhere."""
    used = defaultdict(set, {module: exported(module) for module in PUBLIC})
    for module, tree in modules().items():
        names = imported(tree)
        for statement in tree.body:
            own = {name for name, node in defined(tree.body) if node is statement}
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    used[module] |= {node.id} - own
                    home, name = names.get(node.id, (module, node.id))
                    used[home] |= {name} - (own if home == module else set())
                elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    used[names.get(node.value.id, ("", ""))[0]].add(node.attr)
    # what a folder hands on is used where the folder's is
    for module in sorted(modules(), key=len):
        for name in used[module] & door(module).keys():
            used[module_of(module, name)].add(name)
        for here, (home, name) in imported(modules()[module]).items():
            if here in used[module]:
                used[home].add(name)
    return used


def read() -> set[str]:
    """Return the names under which something is read from an object, or looked up.

    That an option is checked when it is made is no use of it.
    """
    checked = {id(node) for tree in modules().values() for options in nodes_of(tree)
               if isinstance(options, ast.ClassDef) and options.name.endswith(("Options", "Config"))
               for function in options.body
               if isinstance(function, ast.FunctionDef) and function.name == "__post_init__"
               for node in ast.walk(function)}
    nodes = [node for tree in modules().values() for node in nodes_of(tree)
             if id(node) not in checked]
    return {node.attr for node in nodes
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Store)} | {
        node.value for node in nodes if isinstance(node, ast.Constant)
        and isinstance(node.value, str) and node.value.isidentifier()}


def ours(node: ast.ClassDef, tree: ast.Module) -> bool:
    """Whether all bases of a class are of the package: others call methods that they name."""
    names = imported(tree) | {name: ("portpart", "") for name, _ in defined(tree.body)}
    return all(names.get(ast.unparse(base).partition("[")[0], ("", ""))[0].startswith("portpart")
               for base in node.bases)


def members() -> Iterator[tuple[str, str]]:
    """Yield class and name of what objects have, but for what users or libraries ask for."""
    public = set().union(*map(exported, PUBLIC))
    public |= {ast.unparse(base) for tree in modules().values() for node in nodes_of(tree)
               if isinstance(node, ast.ClassDef) and node.name in public for base in node.bases}
    for module, tree in modules().items():
        for node in nodes_of(tree):
            if not isinstance(node, ast.ClassDef):
                continue
            if node.name not in public and ours(node, tree):
                yield from ((f"{module}.{node.name}", name) for name, _ in defined(node.body))
            yield from ((f"{module}.{node.name}", each.attr) for each in ast.walk(node)
                        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)
                        and ast.unparse(each.value) == "self" and each.attr.strip("_") == each.attr
                        and node.name not in public)


def test_every_name_of_a_module_is_used_in_the_package_or_public() -> None:
    used = uses()
    unused = [f"{module}.{name}" for module, tree in modules().items()
              for name, node in defined(tree.body)
              if name not in used[module] | DOCUMENTED and ".command(" not in ast.unparse(node)
              and not any(module.startswith(place) and name in names
                          for place, names in FOUND_BY_NAME.items())]
    assert not unused


def test_every_member_of_a_class_is_read() -> None:
    known = read() | DOCUMENTED | CLICKS | NOTEBOOKS
    assert not sorted({f"{owner}.{name}" for owner, name in members()
                       if name not in known and name.strip("_") not in NODES})


def test_what_is_documented_is_in_the_docs() -> None:
    text = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    assert all(f".{name}(" in text for name in DOCUMENTED)
    for module in PUBLIC[-5:]:  # docs/programs.md
        assert all(f"`{name}`" in text for name in exported(module))
