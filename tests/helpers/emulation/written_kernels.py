"""The names of all kernels, from the sources that declare them."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import portpart.algorithms
import portpart.primitives
from portpart.backends.language import Kernel
from tests.helpers.sources import statements, tree_of


def kernels_as_written() -> set[str]:
    """Names of all kernels of algorithms and primitives, also of those that functions make."""
    found = set()
    for package in (portpart.algorithms, portpart.primitives):
        for place in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(place.name)
            tree = tree_of(Path(str(module.__file__)))
            found.update(f"{place.name}.{node.name}" for node in statements(tree)
                         if isinstance(node, ast.FunctionDef) and is_kernel(node))
    return found


def is_kernel(function: ast.FunctionDef) -> bool:
    """Whether a function is decorated as a kernel."""
    return any(ast.unparse(name).removeprefix("kl.") == "kernel"
               for name in function.decorator_list)


def name_of(kernel: Kernel) -> str:
    """Where it is written."""
    return f"{kernel.function.__module__}.{kernel.name}"
