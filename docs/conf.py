"""Sphinx: what the site at build/docs/html is made of; ``make docs`` builds it."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11; Sphinx brings it
    import tomli as tomllib

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS / "_ext"), str(ROOT)]

from numpydoc.xref import DEFAULT_LINKS  # noqa: E402
from reference_links import address  # noqa: E402

import portpart  # noqa: E402

ABOUT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

project = ABOUT["name"]
author = ABOUT["authors"][0]["name"]
copyright = f"2026, {author}"
version = release = portpart.__version__
repository = ABOUT["urls"]["Source"]


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The link from a page of the reference to the source."""
    return address(repository, info["module"], info["fullname"])


extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "forge_pages",
    "notebooks",
    "reference_links",
    "short_signatures",
]
if os.environ.get("PORTPART_DOCS_INTERSPHINX"):  # links to other projects need the internet
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
    }
else:
    DEFAULT_LINKS.clear()  # of numpydoc: types of Python and NumPy are words

source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_ext", "_templates"]
templates_path = ["_templates"]
highlight_language = "none"
smartquotes = False
nitpicky = True
# single backticks in docstrings are code, and links where a public name has a page
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", ".*")]

myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # but these
numpydoc_xref_aliases = {
    name: f"{place}.{name}"
    for place, module in (("portpart.io", portpart.io), ("portpart.metrics", portpart.metrics),
                          ("portpart.generators.shares", portpart.generators.shares),
                          ("portpart", portpart))
    for name in module.__all__ if isinstance(getattr(module, name), type)
}

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "backreferences_dir": "reference/generated/used_in",
    "doc_module": ("portpart",),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1000,
    "thumbnail_size": (560, 380),
}
notebook_to_run = "tutorials/simulation"
# a picture is drawn without a window
warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive.*")

html_baseurl = ABOUT["urls"]["Documentation"]
html_theme = "pydata_sphinx_theme"
html_title = "portpart"
html_static_path = ["_static"]
html_css_files = ["portpart.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"image_light": "_static/mark.svg", "image_dark": "_static/mark.svg",
             "text": f"portpart {release}"},
    # the versions that are on the site: the file of the latest one lists all of them
    "switcher": {"json_url": f"{html_baseurl}/_static/switcher.json", "version_match": release},
    "check_switcher": False,  # that would read the site, and a build needs no network
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    "icon_links": [{"name": "Source", "url": repository, "icon": "fa-brands fa-github"}],
    "use_edit_page_button": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "performance": [], "glossary": [], "changelog": []}
html_context = {"default_mode": "auto", "repository": repository}

linkcheck_ignore = [rf"{repository}/.*", ABOUT["urls"]["Documentation"]]
