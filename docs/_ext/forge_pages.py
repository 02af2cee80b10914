"""Pages that read well on a code forge become pages of the site.

Links to files outside ``docs/`` lead to the repository, or to the page of the site that shows the
file; the headings of the glossary become terms, and links to them references to terms.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
SHOWN = {"README.md": "index.md", "CHANGELOG.md": "changelog.md",
         "CONTRIBUTING.md": "contributing.md", "examples/gallery": "gallery/index.rst"}
INCLUDED = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
LINK = re.compile(r"(?<!!)\[([^\]\[]*)\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
ENTRY = re.compile(r"^## (.+)\n\n((?:.+\n)+)\n`(\S+\.py)`: (.+)$", re.M)
FENCE = re.compile(r"(^(`{3,}|~{3,}).*?^\2[ ]*$)", re.M | re.S)


def setup(app: Sphinx) -> dict[str, bool]:
    """Read pages as they stand in the repository."""
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def read_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Turn the text of one page into what the site shows."""
    page = DOCS / f"{docname}.md"
    if not page.exists():
        return
    text = source[0]
    if docname in INCLUDED:
        page = ROOT / INCLUDED[docname]
        app.env.note_dependency(page)
        text = page.read_text()
    pages = Links(page, DOCS / docname, app.config.html_context["repository"])
    if docname == "glossary":
        text = as_glossary(text, pages.repository)
    source[0] = pages.rewrite(text)


class Links:
    """The links of one file, as they have to be on the page that shows it."""

    def __init__(self, file: Path, page: Path, repository: str) -> None:
        self.folder, self.page, self.repository = file.parent, page.parent, repository

    def rewrite(self, text: str) -> str:
        """Rewrite all links outside code."""
        pieces = FENCE.split(text)  # text, code, its fence, text ...
        for place in range(0, len(pieces), 3):
            pieces[place] = LINK.sub(self.link, pieces[place])
        del pieces[2::3]
        return "".join(pieces)

    def link(self, found: re.Match[str]) -> str:
        """One link, relative to where the page is shown."""
        text, name, anchor = found[1], found[2], found[3] or ""
        if not name:
            return found[0]
        target = Path(os.path.normpath(self.folder / name))
        if target == DOCS / "glossary.md" and anchor:
            return f"{{term}}`{plain(text)} <{anchor.replace('-', ' ')}>`"
        beside = target.relative_to(ROOT).as_posix()
        if target.parent == ROOT / "examples" / "gallery":
            target = DOCS / "gallery" / f"{target.stem}.rst"
        if DOCS not in target.parents and beside not in SHOWN:
            kind = "tree" if target.is_dir() else "blob"
            return f"[{text}]({self.repository}/{kind}/main/{beside})"
        shown = DOCS / SHOWN.get(beside, target)
        where = os.path.relpath(shown, self.page)
        return f"[{text}]({where}{'#' * bool(anchor)}{anchor})"


def plain(text: str) -> str:
    """The text of a link on one line, as a role wants it."""
    return " ".join(text.split())


def as_glossary(text: str, repository: str) -> str:
    """Headings, each with a paragraph and a file, as terms of a glossary."""
    head = text[: text.index("\n## ")]
    entries = [f"{term}\n  {' '.join(meaning.split())}\n\n"
               f"  [{file}]({repository}/blob/main/portpart/{file}): {names}\n"
               for term, meaning, file, names in ENTRY.findall(text)]
    return f"{head}\n\n:::{{glossary}}\n:sorted:\n\n" + "\n".join(entries) + ":::\n"
