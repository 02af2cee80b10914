"""The page of the package index: README.md, its links leading to the tag of the release.

All else is declared in pyproject.toml.
"""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
HOME = "https://github.com/portpart/portpart"
RAW = "https://raw.githubusercontent.com/portpart/portpart"
LINK = re.compile(r"(!?)(\[[^\]]*\]\()(?!https?://|#)([^)\s]+\))")
"""A picture or a link to a file of the repository."""


def version() -> str:
    """The version that is built."""
    text = (ROOT / "portpart" / "base" / "version.py").read_text(encoding="utf-8")
    (found,) = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return str(found)


def absolute(text: str, tag: str) -> str:
    """The text with addresses in place of links from file to file."""
    def address(link: re.Match[str]) -> str:
        picture, words, path = link.groups()
        return f"{picture}{words}{f'{RAW}/{tag}' if picture else f'{HOME}/blob/{tag}'}/{path}"

    return LINK.sub(address, text)


setup(long_description=absolute((ROOT / "README.md").read_text(encoding="utf-8"), f"v{version()}"),
      long_description_content_type="text/markdown")
