"""What the options of METIS mean to portpart."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from pymetis import ObjType, Options

from portpart.api.call_options import MAX_SEED
from portpart.errors import InputError

UNSET = -1

MAX_BISECTED = 8
"""Up to this many blocks PyMETIS bisects recursively by default."""

BISECTION_IMBALANCE = 0.001
"""METIS's default for recursive bisection."""

KWAY_IMBALANCE = 0.03
"""METIS's default for direct k-way partitioning."""

OBJECTIVES = {
    ObjType.VOL: 'VOL is not taken by this call: portpart.partition(graph, nparts, '
                 'objective="volume") minimises the communication volume',
    ObjType.NODE: "NODE is not supported: portpart finds no separators",
}
"""Messages about other objectives than the cut."""


def settings_of(options: Options | None, bisected: bool) -> dict[str, Any]:
    """Imbalance, seed and starts as `options` ask; refuses what cannot be honoured."""
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
    """Whether blocks have to be connected."""
    wanted = options is not None and _flag(options, "contig")
    if contiguous and options is not None and options.contig != UNSET:
        raise InputError("Contiguous setting should be specified either through `options` OR "
                         "through the `contiguous` flag.")
    return wanted or bool(contiguous)


def checked_shares(tpwgts: Sequence[float] | None, nparts: int, name: str) -> list[float] | None:
    """Target shares as numbers that are not negative, one for each block; None for equal ones."""
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
