"""What Numba's own type inference says about an operator: the oracle of the type rules."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.registry import cpu_target
from numba.np.numpy_support import as_dtype, from_dtype

from portpart.backends.language.types import SCALARS

_context = cpu_target.typing_context
_context.refresh()


def numba_type(dtype: np.dtype) -> Any:
    """Numba's type for a dtype."""
    return from_dtype(dtype)


def dtype_of(numba: Any) -> np.dtype | None:
    """The dtype for one of Numba's types; None if the language does not have it."""
    numba = types.unliteral(numba)
    dtype = as_dtype(numba)
    return dtype if dtype in SCALARS else None


def result_of(function: Any, *arguments: np.dtype) -> Any:
    """Numba's result type of `function`, an operator or a builtin; None if it has none."""
    resolved = _context.resolve_value_type(function)
    try:
        return _context.resolve_function_type(
            resolved, tuple(map(numba_type, arguments)), {}
        ).return_type
    except Exception:
        return None


def unified(left: np.dtype, right: np.dtype) -> np.dtype | None:
    """The type of a variable that gets both types."""
    return dtype_of(_context.unify_pairs(numba_type(left), numba_type(right)))
