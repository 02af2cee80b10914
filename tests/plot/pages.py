"""A report read back: its facts, its table of blocks, its pictures, what it fetches."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "img", "br", "hr", "link", "input"}
FETCHING = {"src", "href", "srcset", "data", "xlink:href", "poster", "action"}


class Page(HTMLParser):
    """What stands in a page.

    Attributes
    ----------
    facts : dict of str
        Tables of two columns, and the large numbers.
    blocks : list of list of str
        The table of blocks, with its head.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.fetched: list[str] = []
        self.rows: list[list[str]] = []
        self.tiles: list[str] = []
        self.texts: dict[str, str] = {}
        self.feed(text)
        self.close()
        assert not self.open, self.open
        self.facts = {row[0]: row[1] for row in self.rows if len(row) == 2}
        self.blocks = [row for row in self.rows if len(row) > 2]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.fetched += [value for name, value in attrs if name in FETCHING]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
        elif tag == "b":
            self.tiles.append("")

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.fetched += [value for name, value in attrs if name in FETCHING]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if not self.open:
            return
        here = self.open[-1]
        self.texts[here] = self.texts.get(here, "") + data
        if here in ("th", "td"):
            self.rows[-1][-1] += data
        elif here == "b":
            self.tiles[-1] += data
