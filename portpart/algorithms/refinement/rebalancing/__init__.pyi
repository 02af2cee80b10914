from .admission import (
    admit_move as admit_move,
    rank_move as rank_move,
    set_last_admitted as set_last_admitted,
)
from .rule import (
    RebalancingRule as RebalancingRule,
    bucket_for as bucket_for,
    end_rebalancing as end_rebalancing,
    forget_rebalancings as forget_rebalancings,
    plan_gathering as plan_gathering,
    plan_leaving as plan_leaving,
    random_bits as random_bits,
    rebalancing_rule as rebalancing_rule,
    request_strong as request_strong,
    set_threshold as set_threshold,
)
from .state import STAYS as STAYS, Rebalancing as Rebalancing, tile_of as tile_of
from .steps import (
    THRESHOLD_TEAM as THRESHOLD_TEAM,
    RebalancingSteps as RebalancingSteps,
    When as When,
    list_others as list_others,
)
from .strong import (
    evict_strongly as evict_strongly,
    keep_above_threshold as keep_above_threshold,
    put_behind as put_behind,
    set_place as set_place,
)
