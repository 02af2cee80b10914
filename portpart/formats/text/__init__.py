"""Bytes and text: files, packing, tokens, numbers, rules of reading."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
