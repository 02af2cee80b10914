from .by_degree import (
    DIRTY as DIRTY,
    UNRATED as UNRATED,
    ByDegree as ByDegree,
    Deciding as Deciding,
)
from .evaluation import (
    Coarser as Coarser,
    allow_no_iteration as allow_no_iteration,
    may_touch as may_touch,
    project as project,
    revert_to_best as revert_to_best,
)
from .label_propagation import PropagationSteps as PropagationSteps, is_proposed as is_proposed
from .local import (
    LOCAL as LOCAL,
    SUM_TEAM as SUM_TEAM,
    Journal as Journal,
    LocalRefinement as LocalRefinement,
    LocalReport as LocalReport,
    begin_report as begin_report,
    count_activated as count_activated,
    forget_dirty as forget_dirty,
    journal_for as journal_for,
    record_begin as record_begin,
    record_end as record_end,
    record_local as record_local,
    return_vertex as return_vertex,
    set_previous_block as set_previous_block,
    write_report as write_report,
)
from .options import (
    BUCKETS as BUCKETS,
    Figures as Figures,
    FlowOptions as FlowOptions,
    IndependentOptions as IndependentOptions,
    RefinementOptions as RefinementOptions,
    RefinementSizes as RefinementSizes,
    SequenceOptions as SequenceOptions,
    TwoDirectionOptions as TwoDirectionOptions,
    max_arcs as max_arcs,
    shared as shared,
)
from .piece import (
    LevelWords as LevelWords,
    Piece as Piece,
    Recording as Recording,
    Run as Run,
    Variant as Variant,
    launch_with_hubs as launch_with_hubs,
    record_accounts as record_accounts,
    record_ends as record_ends,
)
from .program import (
    JET as JET,
    SHARED as SHARED,
    AccountingSteps as AccountingSteps,
    weigh_vertex as weigh_vertex,
)
from .refiner import Refiner as Refiner
from .work_arrays import refining_bytes as refining_bytes
