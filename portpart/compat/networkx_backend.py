"""The backend ``portpart`` of NetworkX: the entry points that NetworkX finds by itself.

NetworkX imports this file whenever it is imported, so that this file imports nothing before it is
needed.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx

    from portpart.options import Json

SUMMARY = "Multilevel partitioning on all cores or a GPU."
BISECTION = ("A multilevel bisection: sets of equal size, or of the sizes of `partition`. "
             "`max_iter` has no effect. Without a seed the result is always the same. Negative "
             "weights are not implemented.")


def get_info() -> dict[str, Json]:
    """Return the description of the backend for NetworkX's documentation."""
    return {"backend_name": "portpart", "project": "portpart", "package": "portpart",
            "url": "https://github.com/portpart/portpart", "short_summary": SUMMARY,
            "functions": {"kernighan_lin_bisection": {"additional_docs": BISECTION}}}


def convert_from_nx(graph: networkx.Graph, **_: Any) -> networkx.Graph:
    """Return the graph unchanged: weights may be functions, which only the call itself knows."""
    return graph


def convert_to_nx(result: Any, **_: Any) -> Any:
    """Return the result of a function unchanged."""
    return result


def kernighan_lin_bisection(
    G: networkx.Graph, partition: Iterable[Iterable[Hashable]] | None = None, max_iter: int = 10,
    weight: Any = "weight", seed: Any = None,
) -> tuple[set[Hashable], set[Hashable]]:
    """Return two sets of nodes, as ``networkx.community.kernighan_lin_bisection`` does."""
    from portpart.base.interrupts import late_signals

    with late_signals():
        from portpart.compat.networkx import bisection
    # nothing was converted, and NetworkX's cache would make it warn at the next call
    (getattr(G, "__networkx_cache__", None) or {}).get("backends", {}).pop("portpart", None)
    # NetworkX uses the generator of the module without a seed
    is_reported = seed is not None and seed is not getattr(random, "_inst", None)
    number = seed.randrange(2**31) if is_reported and hasattr(seed, "randrange") else seed
    return bisection(G, partition, weight, number if is_reported else 0)
