"""Communication between ranks: the protocol, one rank, and ranks that take turns in one process."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
