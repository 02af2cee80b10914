from .broken_groups import group_by_nets as group_by_nets
from .cluster_ratings import (
    HEAVY_EDGE as HEAVY_EDGE,
    MAX_NARROW as MAX_NARROW,
    HashRows as HashRows,
    RowRating as RowRating,
    propose_cluster as propose_cluster,
    propose_cluster_by_row as propose_cluster_by_row,
    propose_neighbour as propose_neighbour,
)
from .cluster_rounds import (
    AT as AT,
    DEPTH_MASK as DEPTH_MASK,
    ENDS as ENDS,
    IS_GRANTED as IS_GRANTED,
    IS_LONG as IS_LONG,
    IS_REQUESTED as IS_REQUESTED,
    ISOLATED_KEYS as ISOLATED_KEYS,
    LEAVES as LEAVES,
    MAX_DEPTH as MAX_DEPTH,
    REACHED_MASK as REACHED_MASK,
    STATE as STATE,
    ClusterRounds as ClusterRounds,
    VertexList as VertexList,
    begin_single as begin_single,
    is_granted as is_granted,
    list_rest as list_rest,
    list_single as list_single,
    list_singles as list_singles,
    moves_by as moves_by,
    walked as walked,
)
from .cluster_rules import (
    ClustersOfLevels as ClustersOfLevels,
    cluster_rule as cluster_rule,
    cluster_rules as cluster_rules,
    is_skewed as is_skewed,
)
from .clustering import (
    NO_LIMIT as NO_LIMIT,
    slots_for as slots_for,
)
from .clusters import Clusters as Clusters
from .communities import communities as communities
from .contraction import contract as contract, rows_of_clusters as rows_of_clusters
from .groups import grouping_rule as grouping_rule
from .hierarchy import (
    DENSE_DEGREE as DENSE_DEGREE,
    AnyGraph as AnyGraph,
    ClusterRule as ClusterRule,
    Contraction as Contraction,
    Level as Level,
    MadeLevel as MadeLevel,
    cluster_of_cluster as cluster_of_cluster,
    coarsen as coarsen,
    end_for as end_for,
    give_label as give_label,
    label_of_clusters as label_of_clusters,
    value_of_clusters as value_of_clusters,
)
from .large_nets import (
    in_order as in_order,
    places_by_nets as places_by_nets,
    reduced_nets as reduced_nets,
)
from .level_loop import ClusterLimit as ClusterLimit
from .matching import matching_rule as matching_rule
from .net_contraction import (
    contract_in_walk as contract_in_walk,
    contract_nets as contract_nets,
    merged_nets as merged_nets,
)
from .net_proposals import NetProposals as NetProposals
from .options import (
    ClusteringOptions as ClusteringOptions,
    CoarseningOptions as CoarseningOptions,
    CommunityOptions as CommunityOptions,
    FineSizes as FineSizes,
    GroupingOptions as GroupingOptions,
    MatchingOptions as MatchingOptions,
    NetGroupingOptions as NetGroupingOptions,
    NetOptions as NetOptions,
    sizes_of as sizes_of,
)
from .two_hop_clusters import (
    TwoHopGroups as TwoHopGroups,
    clear_preferred as clear_preferred,
    count_preferred as count_preferred,
    enter_group as enter_group,
    grant_in_group as grant_in_group,
    isolated_key as isolated_key,
    join_group as join_group,
    place_groups as place_groups,
)
