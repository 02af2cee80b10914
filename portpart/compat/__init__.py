"""Calls and files of other packages: PyMETIS, NetworkX, PyTorch Geometric and DGL."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Import a module on first use: the backend of NetworkX is imported with NetworkX itself."""
    if name not in ("dgl", "networkx", "pyg", "pymetis"):
        raise AttributeError(f"module 'portpart.compat' has no attribute {name!r}")
    return import_module(f"portpart.compat.{name}")
