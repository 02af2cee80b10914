"""Communication between ranks: the protocol, a single rank, and ranks that run in turns in one
process.
"""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
