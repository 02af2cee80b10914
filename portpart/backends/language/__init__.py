"""The kernel language: ordinary Python functions whose first parameter is the work index.

A kernel is checked when it is decorated, compiled when it is first launched, and runs on every
execution space:

>>> from portpart.backends.language import kernel
>>> @kernel
... def add_one(i, values):
...     values[i] += 1
"""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
