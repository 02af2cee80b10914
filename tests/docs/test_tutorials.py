"""Tutorials as notebooks, and the versions of the site: files that a build of the site writes."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import portpart

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [page for page in sorted((DOCS / "tutorials").glob("*.md")) if page.stem != "index"]
SITE, REPOSITORY = "https://site.example/portpart", "https://forge.example/portpart"
LINK = re.compile(r"\]\(([^)]*)\)")


@pytest.fixture
def notebooks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The extension of Sphinx that writes notebooks; it needs no Sphinx for that."""
    monkeypatch.syspath_prepend(DOCS / "_ext")
    for name in ("notebooks", "forge_pages"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import notebooks

    return notebooks


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_is_its_page(notebooks: ModuleType, page: Path) -> None:
    made = json.loads(json.dumps(notebooks.notebook(page, SITE, REPOSITORY)))
    text = page.read_text()
    code = [cell for cell in made["cells"] if cell["cell_type"] == "code"]
    assert [f"{cell['source']}\n" for cell in code] == re.findall("^```python\n(.*?)^```", text,
                                                                  re.M | re.S)
    shown = [output["text"] for cell in code for output in cell["outputs"]]
    assert shown == re.findall("^```text\n(.*?)^```", text, re.M | re.S)
    assert made["cells"][0]["source"].startswith(text.split("\n", 1)[0])
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])
    assert "```python" not in json.dumps(made)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_a_notebook_lead_to_the_site(notebooks: ModuleType, page: Path) -> None:
    made = notebooks.notebook(page, SITE, REPOSITORY)
    text = "\n".join(cell["source"] for cell in made["cells"] if cell["cell_type"] == "markdown")
    links = LINK.findall(text)
    assert len(links) == len(LINK.findall(page.read_text())) > 2
    for link in links:
        if link.startswith(f"{REPOSITORY}/blob/main/"):
            file = DOCS.parent / link.removeprefix(f"{REPOSITORY}/blob/main/")
        else:
            name = re.fullmatch(rf"{SITE}/([\w/-]+)\.html(#[\w-]+)?", link)[1]
            gallery = DOCS.parent / "examples" / f"{name}.py"
            file = gallery if name.startswith("gallery/") else DOCS / f"{name}.md"
        assert file.is_file(), link


def test_pages_link_to_their_notebooks(notebooks: ModuleType) -> None:
    assert list(notebooks.tutorials().values()) == PAGES
    source = ["# Title\n\nText\n"]
    notebooks.add_link(None, "tutorials/simulation", source)
    assert source[0].startswith('# Title\n\n<a href="simulation.ipynb" download>')
    assert source[0].endswith("</a>\n\nText\n")
    for other in ("tutorials/index", "howto/index"):
        source = ["# Title\n"]
        notebooks.add_link(None, other, source)
        assert source == ["# Title\n"]


def test_one_notebook_is_run_by_the_build(notebooks: ModuleType) -> None:
    chosen = re.search('^notebook_to_run = "(.*)"$', (DOCS / "conf.py").read_text(), re.M)[1]
    assert chosen in notebooks.tutorials()


def test_the_site_offers_this_version() -> None:
    versions = json.loads((DOCS / "_static" / "switcher.json").read_text())
    assert portpart.__version__ in [each["version"] for each in versions]
    assert sum(each.get("preferred", False) for each in versions) == 1
    address = re.search('^Documentation = "(.*)"$', (DOCS.parent / "pyproject.toml").read_text(),
                        re.M)[1]
    assert all(each["url"].startswith(f"{address}/") for each in versions)
