"""Places of blocks on a machine: traffic between blocks, and swaps that lower its cost."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
