from .best_of import BestOf as BestOf
from .state import (
    MUCH_BETTER as MUCH_BETTER,
    Incumbent as Incumbent,
    compare_with_best as compare_with_best,
    keep_if_better as keep_if_better,
    list_unsaved as list_unsaved,
    plan_saving as plan_saving,
    reset_saved as reset_saved,
    save_block as save_block,
    save_vertex as save_vertex,
    set_best as set_best,
    set_touched as set_touched,
)
from .steps import (
    PAGE_LENGTH as PAGE_LENGTH,
    WORDS as WORDS,
    IncumbentSteps as IncumbentSteps,
    Outcomes as Outcomes,
    RefinementOutcome as RefinementOutcome,
)
