"""The CUDA space: kernels translated to CUDA C++ and compiled by NVRTC."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
