"""Tutorials as notebooks: each lies next to its page, which links to it, and one of them is run.

A notebook has the text of the page, with links to the site, and its Python blocks with what they
print.  Of the one that is run these are the outputs of the run, and others than the page shows are
a warning.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forge_pages import DOCS, ROOT, Links

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BLOCK = re.compile("^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.M | re.S)
RELATIVE = re.compile(r"\]\((?!\w+:)([^)#\s]*)\.(?:md|rst)(#[^)\s]*)?\)")
SECONDS = 300
"""What each cell may take."""

Notebook = dict[str, Any]


def setup(app: Sphinx) -> dict[str, bool]:
    """Link pages to notebooks, and write these when the site is there."""
    app.add_config_value("notebook_to_run", None, "")
    app.connect("source-read", add_link)
    app.connect("build-finished", write_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def tutorials() -> dict[str, Path]:
    """Pages that are notebooks, by document."""
    pages = sorted((DOCS / "tutorials").glob("*.md"))
    return {f"tutorials/{page.stem}": page for page in pages if page.stem != "index"}


def add_link(app: Sphinx, docname: str, source: list[str]) -> None:
    """Add the link to the notebook below the title of a tutorial."""
    if docname in tutorials():
        name = f"{docname.partition('/')[2]}.ipynb"
        title, rest = source[0].split("\n", 1)
        source[0] = f'{title}\n\n<a href="{name}" download>Download as a notebook</a>\n{rest}'


def write_notebooks(app: Sphinx, failure: Exception | None) -> None:
    """Write the notebooks of a site of HTML."""
    if failure is not None or app.builder.name != "html":
        return
    for docname, page in tutorials().items():
        made = notebook(page, app.config.html_baseurl, app.config.html_context["repository"])
        if docname == app.config.notebook_to_run:
            made = run(made, docname)
        Path(app.outdir, f"{docname}.ipynb").write_text(json.dumps(made, indent=1) + "\n")


def notebook(page: Path, site: str, repository: str) -> Notebook:
    """Return the notebook of a page."""
    links, folder = Links(page, page, repository), page.relative_to(DOCS).parent
    cells: list[dict[str, Any]] = []
    texts = BLOCK.split(page.read_text())  # text, code, its output, text ...
    for text, code, output in zip(texts[::3], [*texts[1::3], None], [*texts[2::3], None]):
        if text.strip():
            whole = RELATIVE.sub(lambda found: on_site(site, folder, found), links.rewrite(text))
            cells.append({"cell_type": "markdown", "source": whole.strip()})
        if code is not None:
            shown = [{"output_type": "stream", "name": "stdout", "text": output}] if output else []
            cells.append({"cell_type": "code", "execution_count": None, "outputs": shown,
                          "source": code.rstrip()})
    return {
        "cells": [{"id": f"cell-{place}", "metadata": {}, **cell}
                  for place, cell in enumerate(cells)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python",
                                    "name": "python3"}},
        "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip


def on_site(site: str, folder: Path, found: re.Match[str]) -> str:
    """Return the end of a link to another page, with its address."""
    return f"]({site}/{os.path.normpath(folder / found[1])}.html{found[2] or ''})"


def run(made: Notebook, docname: str) -> Notebook:
    """Return a notebook with the outputs of a run."""
    import nbformat
    from nbclient import NotebookClient
    from sphinx.util import logging

    ran = nbformat.from_dict(made)
    nbformat.validate(ran)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(ran, timeout=SECONDS, kernel_name="python3",
                                extra_arguments=["--log-level=ERROR"],
                                resources={"metadata": {"path": folder}})
        client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
    for before, after in zip(made["cells"], ran["cells"]):
        if printed(before) != printed(after):
            logging.getLogger(__name__).warning(
                "the notebook %s printed %r in place of %r", docname, printed(after),
                printed(before))
    return ran


def printed(cell: dict[str, Any]) -> str:
    """Return what a cell has printed, with what is not text shown as its type."""
    return "".join(each.get("text", each["output_type"]) for each in cell.get("outputs", []))
