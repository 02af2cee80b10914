"""Keywords of other partitioners, and misspelt ones: which of a function's own is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, NoReturn

MEANT = {
    "imbalance": ("epsilon", "eps", "ubvec", "ubfactor", "ufactor", "max_imbalance", "tolerance"),
    "k": ("nparts", "n_parts", "num_parts", "parts", "nblocks", "n_blocks", "num_blocks", "blocks",
          "num_partitions", "npartitions", "n_clusters"),
    "vertex_weights": ("vwgt", "vweights", "node_weights", "nodew"),
    "edge_weights": ("adjwgt", "eweights", "weight"),
    "net_weights": ("hyperedge_weights", "hewgts", "nwghts"),
    "vertex_sizes": ("vsize",),
    "target": ("tpwgts", "target_weights", "block_sizes"),
    "starts": ("ncuts", "n_starts", "num_starts"),
    "seed": ("random_state", "rng"),
    "threads": ("num_threads", "n_threads", "nthreads", "n_jobs"),
    "time_limit": ("timeout", "max_time"),
    "progress": ("verbose", "verbosity"),
    "preset": ("quality", "mode", "config"),
    "migration": ("itr",),
}
"""What METIS, KaHIP, Mt-KaHyPar, scikit-learn and others call the keywords of portpart."""

OWN = {other: name for name, others in MEANT.items() for other in others}


def keywords_of(function: Callable[..., Any]) -> frozenset[str]:
    """The names of the parameters of a function of Python."""
    code = function.__code__
    return frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def refuse_keyword(function: Callable[..., Any], given: Iterable[str]) -> NoReturn:
    """Raise for the first of some keywords that a function has not, naming the one it has."""
    known = keywords_of(function)
    wrong = next(name for name in given if name not in known)
    meant = [name for name in [OWN.get(wrong)] if name in known] or get_close_matches(
        wrong, sorted(known - {"self"}), 1)
    hint = f"; did you mean {meant[0]}=?" if meant else ""
    raise TypeError(f"{function.__qualname__}() got an unexpected keyword argument {wrong!r}{hint}")
