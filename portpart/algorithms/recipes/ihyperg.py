"""iHyperG: an incremental k-way hypergraph partitioner; its full partition is that of HyperG.

W. L. Lee's dissertation, University of Wisconsin-Madison, 2025, chapter 4.  What is its own is how
sessions follow edits (`incremental/critical_pins.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from portpart.algorithms.recipes.hyperg import PRESETS as OF_HYPERG, HypergConfig
from portpart.options import described


@described
@dataclass(frozen=True)
class IhypergConfig(HypergConfig):
    """Parameters of the iHyperG partitioner: those of HyperG.

    Examples
    --------
    >>> import portpart
    >>> nets = portpart.generators.netlist(500)
    >>> session = portpart.Session(nets, 2, preset=portpart.IhypergConfig())
    >>> session.km1 < 250
    True
    """


PRESETS = {name: IhypergConfig(**{each.name: getattr(config, each.name)
                                  for each in fields(config)})
           for name, config in OF_HYPERG.items()}
