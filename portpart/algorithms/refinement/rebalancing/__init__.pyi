from .loss_buckets import (
    bucket_for as bucket_for,
    random_bits as random_bits,
    set_threshold as set_threshold,
)
from .rule import (
    Evicting as Evicting,
    RebalancingRule as RebalancingRule,
    ask_for_strong as ask_for_strong,
    end_rebalancing as end_rebalancing,
    forget_rebalancings as forget_rebalancings,
    plan_gathering as plan_gathering,
    plan_leaving as plan_leaving,
    plan_strength as plan_strength,
    rebalancing_rule as rebalancing_rule,
)
from .state import STAYS as STAYS, Rebalancing as Rebalancing, tile_of as tile_of
from .steps import THRESHOLD_TEAM as THRESHOLD_TEAM, RebalancingSteps as RebalancingSteps
from .strong import (
    evict_strongly as evict_strongly,
    keep_those_above as keep_those_above,
    put_behind as put_behind,
    stand_at as stand_at,
)
