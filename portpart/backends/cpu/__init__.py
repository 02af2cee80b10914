"""The CPU space: kernels compiled by LLVM, on one thread or many."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
