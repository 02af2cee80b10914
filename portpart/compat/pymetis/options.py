"""Conversion of METIS's options to those of portpart."""

from __future__ import annotations

import math
import warnings
from array import array
from collections.abc import Sequence
from typing import Any

from pymetis import ObjType, Options, zero_copy_dtype

from portpart.api import MAX_SEED
from portpart.errors import InputError
from portpart.graphs import Blocks, Graph, first_true, host_array
from portpart.metrics import components_per_block

UNSET = -1

MAX_BISECTED = 8
"""Maximum number of blocks for which PyMETIS bisects recursively by default."""

BISECTION_IMBALANCE = 0.001
"""METIS's default for recursive bisection."""

KWAY_IMBALANCE = 0.03
"""METIS's default for direct k-way partitioning."""

OBJECTIVES = {
    ObjType.VOL: 'VOL is not taken by this call: portpart.partition(graph, nparts, '
                 'objective="volume") minimises the communication volume',
    ObjType.NODE: "NODE is not supported: portpart finds no separators",
}
"""Messages about objectives other than the cut."""


def settings_of(options: Options | None, bisected: bool) -> dict[str, Any]:
    """Return imbalance, seed and starts from `options`; raise an error for unsupported ones."""
    settings: dict[str, Any] = {
        "imbalance": BISECTION_IMBALANCE if bisected else KWAY_IMBALANCE,
        "seed": 0,
        "starts": None,
    }
    if options is None:
        return settings
    if options.numbering not in (UNSET, 0):
        raise InputError("METIS numbering option must be set to 0 or the default")
    if options.objtype not in (UNSET, ObjType.CUT):
        known = f"{options.objtype} is not known; ObjType.CUT is supported"
        raise InputError(f"option objtype={OBJECTIVES.get(options.objtype, known)}")
    if _flag(options, "minconn"):
        warnings.warn("option minconn=1 has no effect in portpart", UserWarning, stacklevel=3)
    if options.ufactor != UNSET:
        settings["imbalance"] = _at_least_one(options, "ufactor") / 1000
    if options.ncuts != UNSET:
        settings["starts"] = _at_least_one(options, "ncuts")
    if options.seed != UNSET:
        settings["seed"] = options.seed % MAX_SEED
    return settings


def must_connect(options: Options | None, contiguous: bool | None) -> bool:
    """Whether blocks must be connected."""
    required = options is not None and _flag(options, "contig")
    if contiguous and options is not None and options.contig != UNSET:
        raise InputError("Contiguous setting should be specified either through `options` OR "
                         "through the `contiguous` flag.")
    return required or bool(contiguous)


def checked_shares(tpwgts: Sequence[float] | None, nparts: int, name: str) -> list[float] | None:
    """Return target shares as numbers that are not negative, one per block; None if equal."""
    try:
        shares = [] if tpwgts is None else [float(share) for share in tpwgts]
    except (TypeError, ValueError, OverflowError) as problem:
        raise InputError(f"tpwgts must be a sequence of numbers: {problem}") from None
    if not shares:
        return None
    if len(shares) != nparts:
        raise InputError(f"The length of tpwgts mismatches `{name}`: {len(shares)} numbers for "
                         f"{nparts} blocks")
    for block, share in enumerate(shares):
        if not (math.isfinite(share) and share >= 0):
            raise InputError("The values of tpwgts should be non-negative: tpwgts"
                             f"[{block}] is {share}")
    return shares


def _flag(options: Options, name: str) -> bool:
    value = int(getattr(options, name))
    if value not in (UNSET, 0, 1):
        raise InputError(f"option {name}={value}; it must be 0 or 1")
    return value == 1


def _at_least_one(options: Options, name: str) -> int:
    value = int(getattr(options, name))
    if value < 1:
        raise InputError(f"option {name}={value}; it must be at least 1")
    return value


# The warnings of PyMETIS about arguments that METIS cannot use without a copy ------------------


INTEGER_CODES = "ilq"
"""Codes in the buffer protocol of C types that METIS's integers may have."""


def warn_of_copies(**arguments: Any) -> None:
    """Warn of each argument, except None, that PyMETIS would copy."""
    for name, values in arguments.items():
        reason = None if values is None else _reason(values)
        if reason is not None:
            warnings.warn(f"For {name}: {reason}", BytesWarning, stacklevel=3)


def _reason(values: Any) -> str | None:
    """Return why METIS cannot use `values` without a copy, or None."""
    try:
        buffer = memoryview(values)
    except (TypeError, ValueError) as problem:
        return f"GetBuffer failed: {problem}"
    if not buffer.c_contiguous:
        return "GetBuffer failed: the array is not contiguous"
    if buffer.itemsize != zero_copy_dtype().itemsize:
        return "unexpected itemsize"
    if buffer.format not in tuple(INTEGER_CODES):
        return f"unexpected dtype, needed one of {INTEGER_CODES!r}, got {buffer.format!r}"
    return None


# Results in the form of PyMETIS ----------------------------------------------------------------


def part_as_there(part: Blocks, nparts: int) -> Any:
    """Return blocks as an array of METIS's integers, or as a list if there is only one block."""
    blocks = host_array(part).astype(zero_copy_dtype(), copy=False)
    if nparts == 1:
        return blocks.tolist()
    return array("q" if blocks.itemsize == 8 else "i", blocks.tobytes())


def refuse_pieces(graph: Graph, part: Blocks, nparts: int) -> None:
    """Raise unless the vertices of every block are connected."""
    pieces = components_per_block(graph, part, nparts)
    if (block := first_true(pieces > 1)) is not None:
        raise InputError(f"contig=1: block {block} has {pieces[block]} components; portpart does "
                         "not connect blocks: try another seed, fewer blocks or more imbalance")
