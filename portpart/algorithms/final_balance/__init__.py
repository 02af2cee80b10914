"""The last step on the balance of blocks: overload, underload and packing, on the host."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
