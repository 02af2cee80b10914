"""Verilog text as tokens; a list of plain connections, ``(.A(n1), .B(n2[3]))``, is one of them.

Nearly every gate of a netlist is connected by such a list. Large netlists are read fast because one
regular expression matches a whole list; other connections are several tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from portpart.formats.text import Source

IDENTIFIER = r"[A-Za-z_][\w$]*"
ESCAPED = r"\\\S+(?!\S)"
NET = rf"(?:{IDENTIFIER}(?:\[\d+\])?|{ESCAPED})"
CONNECTION = rf"\.\s*(?:{IDENTIFIER}|{ESCAPED})\s*\(\s*{NET}\s*\)"

SKIPPED = r"""
    \s+ | //[^\n]* | /\*.*?\*/ |
    `(?:timescale|default_nettype|line|pragma|unconnected_drive)\b[^\n]* |
    `(?:resetall|nounconnected_drive)\b
"""

TOKEN = re.compile(
    rf"""(?:{SKIPPED})*(?:
    (?P<list>\(\s*(?:{CONNECTION}\s*,\s*)*{CONNECTION}\s*\)) |
    (?P<name>{IDENTIFIER}) |
    (?P<escaped>{ESCAPED}) |
    (?P<number>\d*\s*'[sS]?[bodhBODH]\s*[\da-fA-FxXzZ?_]+ | \d+(?:\.\d+)?) |
    (?P<string>"(?:[^"\\\n]|\\.)*") |
    (?P<rare>`\w* | /\* | \(\* ) |
    (?P<symbol>\*\) | .) |
    (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)

PAIR = re.compile(rf"\.\s*({IDENTIFIER}|{ESCAPED})\s*\(\s*({NET})\s*\)", re.ASCII)
"""Port and net of each connection in the text of a ``list`` token."""

PLAIN = re.compile(IDENTIFIER, re.ASCII)

KEYWORDS = frozenset(
    "module macromodule endmodule primitive endprimitive input output inout wire tri tri0 tri1 "
    "triand trior wand wor supply0 supply1 signed assign parameter localparam defparam specify "
    "endspecify reg integer real time event always initial function task generate genvar if case "
    "for and nand or nor xor xnor buf not bufif0 bufif1 notif0 notif1".split()
)


def identifier(text: str) -> str:
    r"""Return the name of a token: ``\abc`` is ``abc``; ``\a[1]`` keeps its backslash.

    Without the backslash it would be equal to bit 1 of the vector ``a``.
    """
    if text[0] == "\\" and PLAIN.fullmatch(text, 1) and text[1:] not in KEYWORDS:
        return text[1:]
    return text


class Tokens:
    """The tokens of a file, one of which is the current one.

    Attributes
    ----------
    kind : str
        ``"name"`` (escaped or not), ``"number"``, ``"string"``, ``"list"`` (see above),
        ``"symbol"`` or ``"end"``.
    text : str
        Names as `identifier` returns them.
    in_cell : bool
        Whether the current token is between ```celldefine`` and ```endcelldefine``.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        # escaped names may have any bytes, which are kept
        self._text = source.data.decode("utf-8", "surrogateescape")
        self._matches = TOKEN.finditer(self._text)
        self.kind, self.text, self.in_cell = "", "", False
        self.advance()

    @property
    def source_name(self) -> str:
        """Name of the file."""
        return self._source.name

    @property
    def position(self) -> int:
        """Position where the current token begins."""
        return self._match.start(self._match.lastgroup or 0)

    def advance(self) -> None:
        """Read the next token."""
        if self.kind == "end":
            return
        self._match = match = next(self._matches)
        self.kind = kind = match.lastgroup or ""
        self.text = match[kind]
        if kind == "escaped":
            self.kind, self.text = "name", identifier(self.text)
        elif kind == "rare":
            self._skip_rare()

    def take(self, text: str) -> bool:
        """Skip `text` if that is the current token; return whether it is."""
        if self.text != text:
            return False
        self.advance()
        return True

    def expect(self, text: str) -> None:
        """Skip `text`, which must be the current token."""
        if not self.take(text):
            self.refuse(f"expected {text!r}, found {self.shown()}")

    def listed(self) -> Iterator[None]:
        """Yield once for each item of a list with commas."""
        yield
        while self.take(","):
            yield

    def name(self, what: str) -> str:
        """Skip a name and return it; `what` says what it names."""
        if self.kind != "name" or self.text in KEYWORDS:
            self.refuse(f"expected {what}, found {self.shown()}")
        text = self.text
        self.advance()
        return text

    def integer(self, what: str) -> int:
        """Skip a plain decimal number and return it."""
        if not (self.kind == "number" and self.text.isdigit() and len(self.text) < 10):
            self.refuse(f"expected {what}, found {self.shown()}")
        value = int(self.text)
        self.advance()
        return value

    def skip_past(self, text: str) -> None:
        """Skip everything up to and including `text`."""
        begin = self.position
        while self.text != text:
            if self.kind == "end":
                self.refuse(f"no {text!r} follows", begin)
            self.advance()
        self.advance()

    def shown(self) -> str:
        """Return the current token for a message."""
        if self.kind == "end":
            return "the end of the file"
        return repr("(" if self.kind == "list" else self.text[:40])

    def refuse(self, problem: str, position: int | None = None) -> NoReturn:
        """Raise an error for a position, or for the current token."""
        where = self.position if position is None else position
        self._source.refuse(self._text.count("\n", 0, where) + 1, problem)

    def _skip_rare(self) -> None:
        """Skip an attribute or a cell directive; raise an error for open comments and the rest."""
        if self.text == "(*":
            self.skip_past("*)")
        elif self.text in ("`celldefine", "`endcelldefine"):
            self.in_cell = self.text == "`celldefine"
            self.advance()
        elif self.text == "/*":
            self.refuse("the comment is not closed")
        else:
            self.refuse(f"the directive {self.text} is not followed; expand it by a preprocessor "
                        "(such as iverilog -E) first")
