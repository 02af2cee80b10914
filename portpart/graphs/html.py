"""Names and values below each other: lines for terminals, tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

TABLE = "color:inherit;border-collapse:collapse;margin:.3em 0;font-variant-numeric:tabular-nums"
TITLE = "text-align:left;padding:.2em .8em .3em 0;border-bottom:1px solid rgba(128,128,128,.5)"
NAME = "text-align:left;font-weight:normal;opacity:.75;padding:.1em 1.2em .1em 0"
VALUE = "text-align:left;padding:.1em .8em .1em 0"
"""Styles without colours of text or background: both are those of the page, light or dark."""


def table(title: str, facts: Iterable[tuple[str, object]]) -> str:
    """A table of two columns as HTML, all text escaped.

    Parameters
    ----------
    title : str
    facts : iterable of (name, value)
        Values that are None are left out.

    Returns
    -------
    str
    """
    from html import escape  # 0.3 MB that only notebooks need

    rows = "".join(f'<tr style="background:none"><th style="{NAME}">{escape(name)}</th>'
                   f'<td style="{VALUE}">{escape(shown(value))}</td></tr>'
                   for name, value in facts if value is not None)
    return (f'<table style="{TABLE}"><thead><tr><th colspan="2" style="{TITLE}">{escape(title)}'
            f"</th></tr></thead><tbody>{rows}</tbody></table>")


def aligned(facts: Mapping[str, object]) -> str:
    """A line for each name and value, the values below each other."""
    width = max(map(len, facts))
    return "\n".join(f"{name:<{width}}  {shown(value)}" for name, value in facts.items())


def shown(value: object) -> str:
    """A value as text: integers with thousands separators, other numbers with four decimals."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"
