from .hierarchy import (
    CPU_FOLD as CPU_FOLD,
    GPU_FOLD as GPU_FOLD,
    Fold as Fold,
    coarsen_ranks as coarsen_ranks,
    fold_coarsest as fold_coarsest,
    fold_for as fold_for,
    projected as projected,
)
from .merging import outside_of as outside_of, rows_of as rows_of
