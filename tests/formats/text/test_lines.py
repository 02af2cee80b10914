"""The line that a message names, against a plain count."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from portpart.formats.text import files
from portpart.formats.text.files import Source
from portpart.formats.text.tokens import LineSyntax, read_lines
from tests.helpers import graphs as _profile  # noqa: F401  (loads the Hypothesis profile)

LINES = ["1 2", "", "  ", "# x", " % y", "3", "\t", "%", "4\r"]


def plain_lines(data: bytes, syntax: LineSyntax) -> list[int]:
    """Numbers of the lines that are rows."""
    lines = [line.strip() for line in data.split(b"\n")]
    return [number for number, line in enumerate(lines, 1)
            if (line or syntax.keep_blank) and (not line or line[:1] not in syntax.comments)]


@pytest.mark.parametrize("piece", [8, 64])
@pytest.mark.parametrize("syntax", [LineSyntax(b"%", keep_blank=True), LineSyntax(b"#%")])
def test_the_line_of_a_row(piece: int, syntax: LineSyntax) -> None:
    @given(st.lists(st.sampled_from(LINES), max_size=30))
    def check(lines: list[str]) -> None:
        data = "\n".join(lines).encode()
        rows = len(read_lines(data.replace(b"#", b"%"), syntax).starts) - 1
        source = Source("x", data.replace(b"#", b"%"))
        found = [source.line_of_row(syntax, 0, row) for row in range(rows)]
        assert found == plain_lines(source.data, syntax)[:rows]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "LINES_PIECE", piece)
        check()


def test_words_are_told_with_their_lines() -> None:
    source = Source("x", b"\n\n 1 2\n\n \t\n# c\n3\r\n\n")
    assert [(number, line) for number, _, line in source.lines()] == [
        (3, b"1 2"), (6, b"# c"), (7, b"3")]
    assert [after for _, after, _ in source.lines()] == [7, 15, 18]
