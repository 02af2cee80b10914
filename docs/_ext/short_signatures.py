"""Signatures of dataclasses: names of options without nested defaults; none for results."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Rewrite signatures as they are documented."""
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def shorten(app: Sphinx, what: str, name: str, value: Any, options: Any, signature: str | None,
            returns: str | None) -> tuple[str | None, str | None] | None:
    """What is shown in place of a signature; None leaves it."""
    if what != "class":
        return None
    if not dataclasses.is_dataclass(value) and not hasattr(value, "_fields"):
        return None
    about = inspect.getdoc(value) or ""
    if "Parameters\n----------" not in about:
        return "", None
    if not name.endswith("Config"):
        return None
    fields = (each for each in dataclasses.fields(value) if each.init)
    return f"({', '.join(f'{each.name}={short(each.default)}' for each in fields)})", None


def short(default: Any) -> str:
    """A default as it is written, that of nested options by its class."""
    return f"{type(default).__name__}(...)" if dataclasses.is_dataclass(default) else repr(default)
