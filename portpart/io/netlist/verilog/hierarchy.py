"""Which module is the top one, and whether what it contains can be flattened."""

from __future__ import annotations

from collections import Counter

from portpart.errors import InputError
from portpart.graphs.limits import MAX_INT32
from portpart.io.netlist.verilog.module import Module, VerilogText
from portpart.io.netlist.verilog.plain_names import MARK
from portpart.options import shown

SHOWN_NAMES = 5


def top_module(tokens: VerilogText, modules: dict[str, Module], name: str | None) -> Module:
    """The module called `name`, or else the only one that no other instantiates."""
    if name is not None:
        named = modules.get(name) or modules.get(MARK + name)
        if named is None:
            raise InputError(f"{tokens.source_name} has no module {shown(name)}; it has "
                             f"{_listed(modules)}")
        return named
    if not modules:
        tokens.refuse("the file holds no module")
    used = {cell for module in modules.values() for cell in module.cells}
    free = [module for module in modules.values() if module.name not in used]
    if not free:
        tokens.refuse("every module is instantiated by another one; name the top one",
                      next(iter(modules.values())).position)
    if len(free) > 1:
        tokens.refuse(f"{_listed([module.name for module in free])} are all instantiated "
                      "nowhere; name the top one (top=, --top)", free[1].position)
    return free[0]


def check_depth(tokens: VerilogText, modules: dict[str, Module], top: Module) -> None:
    """Refuse a module that contains itself, and more gates than vertices can be numbered."""
    sizes: dict[str, int] = {}
    open_names: set[str] = set()
    stack = [top]
    while stack:
        module = stack[-1]
        inner = Counter(module.cells)
        found = [modules[cell] for cell in inner if cell in modules]
        missing = [child for child in found if child.name not in sizes]
        open_names.add(module.name)
        if not missing:
            leaves = sum(inner.values()) - sum(inner[child.name] for child in found)
            # a gate counts once, and so does an instance of a module without gates
            sizes[module.name] = max(1, leaves + sum(
                inner[child.name] * sizes[child.name] for child in found))
            open_names.discard(module.name)
            stack.pop()
            continue
        child = missing[0]
        if child.name in open_names:
            place = module.cells.index(child.name)
            tokens.refuse(f"module {shown(child.name)} contains itself", module.positions[place])
        stack.append(child)
    if sizes[top.name] > MAX_INT32:
        tokens.refuse(f"module {shown(top.name)} has {sizes[top.name]} gates; at most {MAX_INT32} "
                      "can be numbered", top.position)


def _listed(names: list[str] | dict[str, Module]) -> str:
    """The first of some names, for a message."""
    first = [shown(name) for name in names]
    more = [] if len(first) <= SHOWN_NAMES else [f"{len(first) - SHOWN_NAMES} more"]
    first = first[:SHOWN_NAMES] + more
    return " and ".join([", ".join(first[:-1]), first[-1]] if len(first) > 1 else first)
