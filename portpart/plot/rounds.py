"""Rounds of a session: what the partition costs, and what has moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.errors import InputError
from portpart.plot.canvas import axes_on
from portpart.plot.colors import FIRST

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = {"none": ".", "local": "o", "cycle": "^", "full": "s"}
"""How rounds of each effort are marked."""

MARKED = 200
"""Rounds up to which each has its mark; beyond, those of more than local effort have one."""


def session(updates: Sequence[Any], *, ax: Axes | None = None) -> Axes:
    """Draw the objective over the rounds of a session, and below it what has moved.

    Parameters
    ----------
    updates : sequence of SessionUpdate or RepartitionResult
        In their order, as :meth:`portpart.Session.apply` has returned them.
    ax : matplotlib.axes.Axes, optional
        Default: those of a new figure.  Its lower part is taken for what has moved.

    Returns
    -------
    matplotlib.axes.Axes
        The upper ones; ``ax.figure.axes[-1]`` are the lower ones.  Marks show the effort of each
        round, red ones a block out of bounds.

    Raises
    ------
    ImportError
        If there is no Matplotlib.
    InputError
        If there are no updates.

    Examples
    --------
    >>> import portpart
    >>> from matplotlib.figure import Figure
    >>> session = portpart.Session(portpart.generators.grid_2d(8, 8), 2)
    >>> updates = []
    >>> for vertex in (0, 9, 18):
    ...     batch = session.batch()
    ...     batch.insert_edges([vertex], [63])
    ...     updates.append(session.apply(batch))
    >>> ax = portpart.plot.session(updates, ax=Figure().add_subplot())
    >>> len(ax.lines[0].get_ydata())
    3
    """
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    updates = list(updates)
    if not updates:
        raise InputError("there are no updates to draw")
    upper = axes_on(ax, (8, 5))
    lower = make_axes_locatable(upper).append_axes("bottom", size="45%", pad=0.12, sharex=upper)
    rounds = np.arange(1, len(updates) + 1)
    values = np.array([getattr(each, "value", each.cut) for each in updates])
    upper.plot(rounds, values, color=FIRST[0], linewidth=1.4)
    _mark_efforts(upper, updates, rounds, values)
    upper.set(ylabel=getattr(updates[0], "objective", "cut"), title=f"{len(updates):,} rounds")
    upper.tick_params(labelbottom=False)
    upper.margins(y=0.12)
    lower.bar(rounds, [each.migration for each in updates], color=FIRST[1], width=0.8)
    lower.set(xlabel="round", ylabel="migration")
    lower.xaxis.get_major_locator().set_params(integer=True)
    for each in (upper, lower):
        each.spines[["top", "right"]].set_visible(False)
        each.grid(axis="y", color="0.9", linewidth=0.8)
        each.set_axisbelow(True)
    return upper


def _mark_efforts(ax: Axes, updates: list[Any], rounds: np.ndarray, values: np.ndarray) -> None:
    efforts = np.array([getattr(each, "effort", "full") for each in updates])
    kept = np.array([bool(each.feasible) for each in updates])
    quiet = ("none", "local") if len(updates) > MARKED else ()
    for effort, mark in MARKS.items():
        own = efforts == effort
        for balanced, colour in ((True, FIRST[0]), (False, "#cc3311")):
            drawn = own & (kept == balanced)
            if drawn.any() and not (balanced and effort in quiet):
                label = effort if balanced else f"{effort}, out of bounds"
                ax.plot(rounds[drawn], values[drawn], mark, color=colour, markersize=5,
                        label=label)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="small", framealpha=0.9)
