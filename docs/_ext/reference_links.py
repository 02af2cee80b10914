"""Links of the reference: to the source in the repository, and to names without their module."""

from __future__ import annotations

import functools
import inspect
import sys
from pathlib import Path

from docutils.nodes import Element
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).resolve().parents[2]


def setup(app: Sphinx) -> dict[str, bool]:
    """Look for names in the package where their modules have none."""
    app.connect("missing-reference", find_in_package)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def find_in_package(app: Sphinx, env: BuildEnvironment, node: Element,
                    content: Element) -> Element | None:
    """What ``as_graph`` means in the docstring of another module."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or target.startswith("portpart."):
        return None
    python = env.get_domain("py")
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", f"portpart.{target}", node,
                               content)


def address(repository: str, module: str, name: str) -> str | None:
    """The lines of an object in the repository, None for what has no source there."""
    value = functools.reduce(lambda value, word: getattr(value, word, None), name.split("."),
                             sys.modules.get(module))
    value = inspect.unwrap(value.fget if isinstance(value, property) else value)
    try:
        file = Path(inspect.getsourcefile(value) or "").resolve().relative_to(ROOT)
        lines, first = inspect.getsourcelines(value)
    except (OSError, TypeError, ValueError):
        return None
    return f"{repository}/blob/main/{file.as_posix()}#L{first}-L{first + len(lines) - 1}"
