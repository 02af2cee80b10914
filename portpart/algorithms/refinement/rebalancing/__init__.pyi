from .rule import (
    RebalancingRule as RebalancingRule,
    ask_for_strong as ask_for_strong,
    bucket_for as bucket_for,
    end_rebalancing as end_rebalancing,
    forget_rebalancings as forget_rebalancings,
    plan_gathering as plan_gathering,
    plan_leaving as plan_leaving,
    random_bits as random_bits,
    rebalancing_rule as rebalancing_rule,
    set_threshold as set_threshold,
)
from .state import STAYS as STAYS, Rebalancing as Rebalancing, tile_of as tile_of
from .steps import THRESHOLD_TEAM as THRESHOLD_TEAM, RebalancingSteps as RebalancingSteps
from .strong import (
    evict_strongly as evict_strongly,
    keep_those_above as keep_those_above,
    put_behind as put_behind,
    stand_at as stand_at,
)
