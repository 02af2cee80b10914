"""Weights of blocks with their limits, and rounds of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.errors import InputError
from portpart.metrics import target_weights
from portpart.metrics.balance import block_weights_of
from portpart.metrics.nets import view_of
from portpart.plot.canvas import INK, axes_on
from portpart.plot.colors import FIRST, checked_colors
from portpart.plot.links import drawn_blocks, either_graph
from portpart.plot.report_data import limits_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from portpart.graphs import Blocks, Numbers
    from portpart.options import WrittenNumber

# Weights of blocks, and their limits -----------------------------------------------------------


TOO_HEAVY = "#cc3311"
BARS = 400
"""Maximum number of blocks with a bar for each; more blocks have one outline."""


def block_weights(result: Any, part: Blocks | None = None, *, k: int | None = None,
                  imbalance: WrittenNumber | None = None, target: Numbers | None = None,
                  min_block_weight: int | None = None, colors: ArrayLike | None = None,
                  ax: Axes | None = None) -> Axes:
    """Draw what the blocks weigh, and their limits.

    Parameters
    ----------
    result : PartitionResult, SessionUpdate, Graph, Hypergraph or any other input of `as_graph`
        A result has weights and limits; with a graph, `part` is needed.
    part : array_like of int, shape (n,), optional
        Block of each vertex of a graph.
    k : int, optional
        Number of blocks of `part`; default: the largest block number plus one.
    imbalance : float or str, optional
        Imbalance of the limits; default: the limits of `result`, or 0.03 if it has none.
    target : array_like, shape (k,), optional
        Target shares of the blocks.
    min_block_weight : int, optional
        Minimum weight of every block.
    colors : array_like, shape (k, 3), optional
        Colours of the blocks, as from :func:`block_colors`.
    ax : matplotlib.axes.Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With a bar for each block, red outlines around overloaded ones, a line of limits,
        and a dashed one of perfect balance where that is known.

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
    InputError
        If blocks and graph do not fit each other.

    Examples
    --------
    >>> import portpart
    >>> from matplotlib.figure import Figure
    >>> result = portpart.partition(portpart.generators.grid_2d(8, 8), 4)
    >>> ax = portpart.plot.block_weights(result, ax=Figure().add_subplot())
    >>> ax.get_title()
    'weights of 4 blocks'
    """
    weights = _weights_of(result, part, k)
    total, k = int(weights.sum()), len(weights)
    limits = limits_of(result, total, k, imbalance, target)
    target = getattr(result, "target", None) if target is None else target
    ax = axes_on(ax, (8, 3.6))
    fill = FIRST[0] if colors is None else checked_colors(colors, k)
    heavy = weights > limits
    _draw_bars(ax, weights, heavy, fill)
    steps = np.arange(k + 1) - 0.5
    ax.stairs(limits, steps, baseline=None, color=TOO_HEAVY, linewidth=1.3, label="limit")
    if target is not None or len(np.unique(limits)) == 1:
        ax.stairs(target_weights(total, k, target), steps, baseline=None, color=INK,
                  linestyle="--", linewidth=1.0, label="perfect balance")
    if min_block_weight is not None:
        ax.axhline(min_block_weight, color=TOO_HEAVY, linestyle=":", label="least weight")
    broken = f", {heavy.sum():,} above the limit" if heavy.any() else ""
    ax.set(xlabel="block", ylabel="weight", xlim=(-0.6, k - 0.4),
           title=f"weights of {k:,} blocks{broken}",
           ylim=(0, 1.12 * max(1, weights.max(initial=0), limits.max(initial=0))))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(loc="lower right", framealpha=0.9, fontsize="small")
    return ax


def _weights_of(result: Any, part: Blocks | None, k: int | None) -> np.ndarray:
    if part is None and hasattr(result, "block_weights"):
        return np.asarray(result.block_weights)
    graph = either_graph(result)
    blocks, k = drawn_blocks(part, graph.num_vertices, k, graph)
    return block_weights_of(view_of(graph, blocks, k or None))


def _draw_bars(ax: Axes, weights: np.ndarray, too_heavy: np.ndarray, fill: ArrayLike) -> None:
    if len(weights) > BARS:
        ax.stairs(weights, np.arange(len(weights) + 1) - 0.5, fill=True, color=FIRST[0], alpha=0.8)
        return
    edges = [TOO_HEAVY if bad else "none" for bad in too_heavy.tolist()]
    ax.bar(np.arange(len(weights)), weights.tolist(), width=0.85, color=fill, edgecolor=edges,
           linewidth=1.6)


# Rounds of a session: cost of the partition, and migration -------------------------------------


MARKS = {"none": ".", "local": "o", "cycle": "^", "full": "s"}
"""Marks of rounds of each effort."""

MARKED = 200
"""Maximum number of rounds that each have a mark; among more, those of more than local effort have
one.
"""


def session(updates: Sequence[Any], *, ax: Axes | None = None) -> Axes:
    """Draw the objective over the rounds of a session, and below it the migration.

    Parameters
    ----------
    updates : sequence of SessionUpdate or RepartitionResult
        In their order, as :meth:`portpart.Session.apply` has returned them.
    ax : matplotlib.axes.Axes, optional
        Default: those of a new figure. Its lower part is used for the migration.

    Returns
    -------
    matplotlib.axes.Axes
        The upper ones; ``ax.figure.axes[-1]`` are the lower ones.  Marks show the effort of each
        round, red ones a block above its limit.

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
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
                ax.plot(rounds[drawn], values[drawn], mark, color=colour, markersize=5, label=label)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="small", framealpha=0.9)
