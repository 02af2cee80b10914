"""One HTML page without anything from outside: styles, tables, pictures inside the file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from portpart.api.version import __version__
from portpart.errors import printable
from portpart.graphs.html import shown

MAX_ROWS = 2000
"""Blocks that are listed one by one."""

OPEN_ROWS = 32
"""Up to this many the list is open."""

STYLE = """
:root{--ink:#1c2733;--soft:#5b6875;--line:#dde3e9;--page:#f5f7f9;--card:#fff;--blue:#33628f;
--good:#1d7a5a;--bad:#b8290f}
@media (prefers-color-scheme:dark){:root{--ink:#e6ebf0;--soft:#9aa8b5;--line:#303b46;
--page:#141a20;--card:#1d252d;--blue:#7fb2e0;--good:#58c99f;--bad:#ff8a70}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:2.2rem 1.4rem 3rem}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .3rem;overflow-wrap:anywhere}
h2{font-size:1.12rem;margin:2.2rem 0 .8rem}
.lead{color:var(--soft);margin:0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:.8rem;
margin:1.5rem 0 0}
.tile,figure,.card{background:var(--card);border:1px solid var(--line);border-radius:10px}
.tile{padding:.7rem 1rem}
.tile b{display:block;font-size:1.5rem;font-weight:600;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:.85rem}
.good b{color:var(--good)}.bad b{color:var(--bad)}
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:1rem}
figure{margin:0;padding:.8rem;display:flex;flex-direction:column}
figure.wide{grid-column:1/-1}
figure>svg,figure>img{width:100%;height:auto;max-height:620px;margin:auto;background:#fff;
border-radius:6px}
figcaption{color:var(--soft);font-size:.88rem;padding:.6rem .2rem 0}
.card{padding:.4rem 1rem;overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.32rem .8rem .32rem 0;text-align:left;border-bottom:1px solid var(--line)}
tr:last-child>*{border-bottom:0}
tbody th{font-weight:400;color:var(--soft);width:45%}
.blocks th,.blocks td{text-align:right;white-space:nowrap}
.blocks thead th{color:var(--soft);font-weight:500}
.blocks .over{color:var(--bad);font-weight:600}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:1rem;
align-items:start}
summary{cursor:pointer;color:var(--blue);padding:.3rem 0}
pre{margin:0;padding:.6rem 0;overflow-x:auto;
font:13px/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
footer{color:var(--soft);font-size:.85rem;margin-top:2rem}
@media print{body{background:#fff}details:not([open])>*{display:block}}
"""


def page(title: str, lead: str, sections: Iterable[str]) -> str:
    """The whole page; `sections` are HTML, the rest is text."""
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(printable(title))}</title><style>{STYLE}</style></head>\n"
        f'<body><main><header><h1>{escape(printable(title))}</h1>'
        f'<p class="lead">{escape(lead)}</p></header>\n'
        + "\n".join(sections)
        + f"\n<footer>portpart {__version__}</footer></main></body></html>\n"
    )


def tiles(facts: Iterable[tuple[str, object, str]]) -> str:
    """Large numbers: name, value, and a class of the style or nothing."""
    inner = "".join(f'<div class="tile {kind}"><b>{escape(shown(value))}</b>'
                    f"<span>{escape(name)}</span></div>" for name, value, kind in facts)
    return f'<div class="tiles">{inner}</div>'


def section(title: str, inner: str) -> str:
    """A part of the page under a heading; `inner` is HTML."""
    return f"<section><h2>{escape(title)}</h2>{inner}</section>"


def facts_table(rows: Iterable[tuple[str, object]]) -> str:
    """Names and values in two columns."""
    inner = "".join(f"<tr><th>{escape(name)}</th><td>{escape(shown(value))}</td></tr>"
                    for name, value in rows)
    return f'<div class="card"><table><tbody>{inner}</tbody></table></div>'


def side_by_side(*parts: str) -> str:
    """Sections next to each other where there is space."""
    return f'<div class="two">{"".join(parts)}</div>'


def blocks_table(names: Sequence[str], columns: Sequence[np.ndarray], over: np.ndarray) -> str:
    """A row for each block; those of blocks that are `over` their limits stand out."""
    count = len(over)
    listed = np.arange(count) if count <= MAX_ROWS else _heaviest(columns[names.index("weight")])
    rows = zip(*(column[listed].tolist() for column in columns), over[listed].tolist())
    inner = "".join(
        ('<tr class="over">' if row[-1] else "<tr>")
        + "".join(f"<td>{value:,}</td>" for value in row[:-1]) + "</tr>" for row in rows)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    what = f"{count:,} blocks" if count <= MAX_ROWS else (
        f"the {MAX_ROWS:,} heaviest of {count:,} blocks")
    return (f'<details{" open" if count <= OPEN_ROWS else ""}><summary>{what}</summary>'
            f'<div class="card"><table class="blocks"><thead><tr>{head}</tr></thead>'
            f"<tbody>{inner}</tbody></table></div></details>")


def _heaviest(weights: np.ndarray) -> np.ndarray:
    return np.sort(np.argsort(-weights, kind="stable")[:MAX_ROWS])


def figure(picture: str, caption: str, wide: bool = False) -> str:
    """A picture, which is HTML, with a line of text below."""
    return (f'<figure{" class=wide" if wide else ""}>{picture}'
            f"<figcaption>{escape(caption)}</figcaption></figure>")


def command_lines(commands: Iterable[str]) -> str:
    """Commands, one a line."""
    return f'<div class="card"><pre>{escape(printable(chr(10).join(commands)))}</pre></div>'
