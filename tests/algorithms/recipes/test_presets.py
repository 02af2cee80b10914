"""Presets are points of one documented configuration."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import pytest

import portpart
from portpart.algorithms.coarsening.options import (
    ClusteringOptions,
    CoarseningOptions,
    GroupingOptions,
    MatchingOptions,
    NetGroupingOptions,
)
from portpart.algorithms.initial.options import GrowingOptions, InitialOptions
from portpart.algorithms.mapping.integrated_mapping import IntegratedConfig
from portpart.algorithms.mapping.mappers import PartitionedConfig
from portpart.algorithms.mapping.multisection import ULTRA, MultisectionConfig
from portpart.algorithms.multilevel import ScheduleOptions, SearchOptions
from portpart.algorithms.multilevel.greedy_start import MAX_GROWN
from portpart.algorithms.recipes import gkway, gpmetis, portpart as portpart_recipe, portpart_nets
from portpart.algorithms.recipes.gkway import GkwayConfig, IgkwayConfig
from portpart.algorithms.recipes.gpmetis import GpmetisConfig
from portpart.algorithms.recipes.hyperg import HypergConfig
from portpart.algorithms.recipes.jet import PRESETS, JetConfig
from portpart.algorithms.recipes.partitioners import lookup
from portpart.algorithms.recipes.portpart import STRONG, PortpartConfig
from portpart.algorithms.refinement.options import (
    IndependentOptions,
    RefinementOptions,
    SequenceOptions,
    TwoDirectionOptions,
)
from portpart.errors import InputError
from portpart.generators import delaunay
from portpart.options import changed
from tests.helpers import checked
from tests.helpers.each import looped

KINDS = [JetConfig, PortpartConfig, GkwayConfig, GpmetisConfig, IntegratedConfig,
         MultisectionConfig, PartitionedConfig, CoarseningOptions, ClusteringOptions,
         MatchingOptions, GroupingOptions, InitialOptions, GrowingOptions, ScheduleOptions,
         SearchOptions, RefinementOptions, IndependentOptions, TwoDirectionOptions, HypergConfig,
         NetGroupingOptions, SequenceOptions]


@looped("kind", KINDS)
def test_every_parameter_is_documented_and_frozen(kind: Any) -> None:
    fields = dataclasses.fields(kind)
    assert all(f"\n{each.name} : {each.type}\n    {each.metadata['help']}\n" in kind.__doc__
               and each.metadata["help"].endswith(".") for each in fields)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(kind(), fields[0].name, None)


@looped("kind", KINDS)
def test_options_are_composed_and_never_inherited(kind: type) -> None:
    assert kind.__mro__ == (kind, object)
    assert not [each.name for each in dataclasses.fields(kind)
                if each.name.startswith(("least_", "most_"))]


def test_changes_go_to_options_at_any_depth_and_leave_the_rest() -> None:
    before = PortpartConfig()
    after = changed(before, {"initial.growing.trials": 3, "search": SearchOptions(2),
                             "search.cycles": 1})
    assert (after.initial.growing.trials, after.search) == (3, SearchOptions(2, 1))
    assert changed(after, {"initial.growing.trials": before.initial.growing.trials,
                           "search": before.search}) == before
    assert changed(before, {}) == before


@pytest.mark.parametrize("k", [2, 8])
@pytest.mark.parametrize("name", ["clustering.growths_for_two", "refinement.temperatures"])
def test_several_numbers_may_be_any_sequence(name: str, k: int) -> None:
    """Programs are found by their options: a list among them has no hash."""
    values = (8, 4) if name.endswith("two") else (0.75, 0.5)
    listed, given = (changed(PortpartConfig(), {name: kind(values)}) for kind in (list, tuple))
    assert listed == given
    graph = delaunay(500)
    assert (portpart.partition(graph, k, preset=listed).part.tolist()
            == portpart.partition(graph, k, preset=given).part.tolist())


def test_the_default_preset_is_the_default_configuration() -> None:
    assert PRESETS["default"] == JetConfig()
    assert set(PRESETS) == {"fast", "default", "ultra", "paper", "paper-ultra", "code",
                            "code-ultra"}
    assert portpart_recipe.PRESETS["default"] == PortpartConfig()
    assert set(portpart_recipe.PRESETS) == {"fast", "default", "strong", "best"}
    assert gkway.PRESETS["default"] == GkwayConfig()
    assert set(gkway.PRESETS) == {"default", "strong", "paper"}
    assert gpmetis.PRESETS["default"] == GpmetisConfig()
    assert set(gpmetis.PRESETS) == {"default", "strong", "paper"}


@pytest.mark.parametrize("options", [
    {"refinement.temperatures": ()}, {"refinement.finest_temperatures": ()},
    {"refinement.temperatures": 0.5}, {"refinement.temperatures": (0.5, -0.1)},
    {"refinement.temperatures": (float("nan"),)}, {"refinement.temperatures": (1.1,)},
    {"refinement.finest_temperatures": (0.5, 1.1)},
    {"initial.starts": 0}, {"initial.method": "x"}, {"initial.starts": 1.5},
    {"coarsening.max_kept": 1.0}, {"coarsening.max_coarsest": -1},
    {"coarsening": 3}, {"refinement.finest": 0.5}, {"refinement.coarse_once_above": "many"},
])
def test_a_configuration_that_cannot_work_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options)).rpartition(".")[2]):
        changed(JetConfig(), options)


@looped(("kind", "options"), [
    (JetConfig, {"search": 2}), (PortpartConfig, {"search.runs": 0}),
    (PortpartConfig, {"search.cycles": -1}), (PortpartConfig, {"clustering.growth": 1}),
    (PortpartConfig, {"clustering.max_coarse_weight": float("nan")}),
    (PortpartConfig, {"initial.starts": 0}), (PortpartConfig, {"search.walks": 2}),
    (GkwayConfig, {"grouping.group_size": 1}), (GkwayConfig, {"grouping.score_factor": 0}),
    (GkwayConfig, {"grouping.score_factor": 2**63}), (GkwayConfig, {"grouping.ties": "first"}),
    (IgkwayConfig, {"grouping.group_size": None}),
    (GkwayConfig, {"grouping.max_coarse_weight": 1}), (GkwayConfig, {"size.group_size": 1}),
    (HypergConfig, {"grouping.max_coarse_weight": 1}),
    (GpmetisConfig, {"search.runs": 2}), (GpmetisConfig, {"search.max_runs": 2}),
    (GpmetisConfig, {"handoff_vertices": -1}),
    (GpmetisConfig, {"contraction.way": 1}),
    (GpmetisConfig, {"contraction": "merge"}), (TwoDirectionOptions, {"tolerance": 0}),
    (TwoDirectionOptions, {"stall_limit": 0}), (TwoDirectionOptions, {"pass_limit": 0}),
    (GkwayConfig, {"initial.starts": 0}), (IndependentOptions, {"stall_limit": 0}),
    (IndependentOptions, {"tolerance": 0}), (IndependentOptions, {"tolerance": 1.1}),
    (IndependentOptions, {"round_limit": 0}), (ClusteringOptions, {"join_rounds": 0}),
    (ClusteringOptions, {"max_left": -0.1}), (PortpartConfig, {"initial.growing.passes": 10**30}),
    (JetConfig, {"matching.two_hop": "no"}),
])
def test_a_recipe_that_cannot_work_is_refused(kind: type, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options)).replace(".", "|")):
        changed(kind(), options)


@pytest.mark.parametrize("preset", ["fast", "default", "strong", "best"])
def test_every_preset_partitions_within_the_limit(preset: str) -> None:
    result = checked.partition(delaunay(3000), 6, algorithm="portpart", preset=preset)
    assert result.feasible
    walks = {"strong": 1 + 1, "best": 12 + 11 + 2}.get(preset, 1)
    assert len(result.stats["cuts"]) == walks


def test_small_graphs_have_more_partitions_from_scratch() -> None:
    """Up to `max_runs` that process 2^22 arcs and vertices together, never fewer than `runs`."""
    mesh = delaunay(20_000)
    assert 14 * (mesh.num_arcs + 160_000) < 2**22 < 15 * (mesh.num_arcs + 160_000)
    runs = [SearchOptions(3, max_runs=most).runs_on(mesh) for most in (None, 2, 5, 14, 15, 40)]
    assert runs == [3, 3, 5, 14, 14, 14]
    assert not SearchOptions(max_runs=2).is_one_walk


def test_clusters_make_half_as_many_levels() -> None:
    mesh = delaunay(20_000)
    few, many = (len(portpart.partition(mesh, 8, algorithm=name).stats["levels"])
                 for name in ("portpart", "jet"))
    assert few <= many // 2 + 1


@pytest.mark.parametrize("growth", [2, 3, 8, 32])
def test_growth_limits_how_fast_a_level_shrinks(growth: float) -> None:
    config = changed(PortpartConfig(), {"clustering.growth": growth,
                                        "coarsening.min_coarsest": 1000})
    levels = portpart.partition(delaunay(20_000), 4, algorithm="portpart",
                                preset=config).stats["levels"]
    sizes = [level["vertices"] for level in levels]
    assert all(fine <= growth * coarse for fine, coarse in pairwise(sizes))
    assert 600 <= sizes[-1] <= 1500


@pytest.mark.parametrize("preset", ["ultra", "paper-ultra"])
def test_ultra_cools_from_085_to_005_in_17_steps(preset: str) -> None:
    ultra = PRESETS[preset].refinement
    for temperatures in (ultra.temperatures, ultra.finest_temperatures):
        assert len(temperatures) == 17
        assert temperatures == tuple(sorted(temperatures, reverse=True))
        assert (temperatures[0], temperatures[-1]) == (0.85, 0.05)


@pytest.mark.parametrize(
    ("k", "vertices"), [(2, 512), (64, 512), (65, 520), (128, 1024), (129, 1024), (512, 1024),
                        (513, 1026), (100_000, 200_000)]
)
def test_coarsening_stops_at_eight_or_two_vertices_per_block(k: int, vertices: int) -> None:
    config = CoarseningOptions(coarsest_per_block=8, min_coarsest=512, max_coarsest=1024)
    assert config.coarsest_vertices(k) == vertices


@pytest.mark.parametrize(
    ("k", "vertices"), [(256, 12_288), (512, 12_288), (1024, 24_576), (4096, 98_304),
                        (10_000, 98_304), (100_000, 200_000)])
def test_many_blocks_start_from_24_vertices_each_while_these_can_be_grown(k, vertices) -> None:
    assert PortpartConfig().coarsening.coarsest_vertices(k) == vertices <= max(2 * k, MAX_GROWN)


@pytest.mark.parametrize(("n", "k"), [(2047, 10), (2000, 10), (1999, 10), (400, 2), (399, 2)])
def test_small_blocks_have_passes_of_their_own_on_the_finest_level_alone(n: int, k: int) -> None:
    options, graph = PortpartConfig().refinement, portpart.generators.grid_2d(1, n)
    wanted = options.finest_small if n < 200 * k else options.finest
    assert options.of_finest(graph, k) == wanted != options.coarse


@pytest.mark.parametrize(("k", "candidates", "hierarchies"), [
    (2, 4, 4), (8, 4, 4), (9, 4, 1), (32, 4, 1), (33, 2, 1), (512, 2, 1)])
def test_few_blocks_have_several_hierarchies_and_many_have_fewer_candidates(
        k: int, candidates: int, hierarchies: int) -> None:
    growing = PortpartConfig().initial.growing
    assert growing.for_blocks(k).candidates == candidates
    assert growing.num_hierarchies(k) == hierarchies
    assert growing.share(k).candidates == candidates // hierarchies
    assert growing.with_starts(6).share(2).candidates * 4 >= 6
    assert STRONG.initial.growing.for_blocks(k).candidates == 4
    assert growing.with_starts(3).for_blocks(k).candidates == 3
    assert growing.of_one().for_blocks(k).candidates == 1


def test_there_is_always_a_start_and_fewer_for_more_blocks() -> None:
    config = InitialOptions(starts=8, start_blocks=64)
    assert [config.num_starts(k) for k in (2, 8, 16, 64, 1000)] == [8, 8, 4, 1, 1]


def test_presets_are_found_by_name_and_configurations_taken_as_they_are() -> None:
    assert lookup("jet", "ultra")[1] is PRESETS["ultra"]
    mine = JetConfig(initial=InitialOptions(starts=3))
    assert lookup("jet", mine)[1] is mine
    with pytest.raises(InputError, match="JetConfig"):
        lookup("jet", RefinementOptions())
    assert lookup("portpart", "best")[1].search.runs == 4


def test_every_level_is_refined_once_per_temperature() -> None:
    calls: list[int] = []
    config = JetConfig(refinement=ScheduleOptions((0.75, 0.25), (0.5, 0.25, 0.1)))

    def note(phase: str, level: int, _: int) -> None:
        if phase == "refinement":
            calls.append(level)

    result = checked.partition(delaunay(3000), 4, preset=config, progress=note)
    deepest = len(result.stats["levels"]) - 1
    assert deepest >= 2
    upwards = [d for d in range(deepest, 0, -1) for _ in range(2)] + [0, 0, 0]
    assert calls == upwards[1:]  # choosing among starts was the first one of the coarsest level


def test_the_cut_never_grows_from_temperature_to_temperature() -> None:
    mesh = delaunay(2000)
    few, many = (
        portpart.partition(mesh, 8, preset=JetConfig(refinement=ScheduleOptions(
            finest_temperatures=(0.75, 0.5, 0.25, 0.1)[:count]))).cut
        for count in (1, 4)
    )
    assert many <= few


def test_ultra_refines_more_than_strong() -> None:
    """By all temperatures on the finest graph, and one cycle more (docs/algorithms/mapping.md)."""
    ultra = ULTRA["default"].preset
    assert isinstance(ultra, PortpartConfig)
    assert ultra.search.cycles == STRONG.search.cycles + 1 == 2
    assert ultra.refinement.finest_temperatures == STRONG.refinement.temperatures


def test_small_hypergraphs_have_flows_and_cycles_or_fewer_starts() -> None:
    config = portpart.HypergraphConfig()
    found = {(pins, k): (own.search.cycles, own.search.passes, own.flows.levels,
                         own.initial.growing.num_hierarchies(k))
             for pins, k in ((2**18, 2), (2**18, 8), (2**18, 9), (2**18, 64), (2**18 + 1, 2),
                             (2**18 + 1, 9), (2**18 + 1, 64))
             for own in [config.for_size(pins, k)]}
    assert found == {(2**18, 2): (1, 1, 1, 16), (2**18, 8): (1, 1, 1, 16),
                     (2**18, 9): (0, None, 1, 8), (2**18, 64): (0, None, 1, 2),
                     (2**18 + 1, 2): (0, None, 0, 16), (2**18 + 1, 9): (0, None, 0, 16),
                     (2**18 + 1, 64): (0, None, 0, 4)}
    mine = changed(config, {"search.runs": 3, "flows.levels": 7}).for_size(1, 2)
    assert (mine.search, mine.flows.levels) == (SearchOptions(3), 7)
    assert config.for_size(2**18, 2).for_size(1, 64).search.cycles == 1


def test_small_hypergraphs_and_few_blocks_have_one_pass_over_each_level() -> None:
    nets, config = portpart.generators.netlist(1000), portpart.HypergraphConfig()
    found = {(pins, k): (own.refinement.passes(0, nets), own.refinement.passes(1, nets))
             for pins, k in ((2**18, 8), (2**18, 9), (2**18 + 1, 8))
             for own in [config.for_size(pins, k)]}
    both = (0.75, 0.3)
    assert found == {(2**18, 8): ((0.3,), (0.75,)), (2**18, 9): (both, both),
                     (2**18 + 1, 8): (both, both)}
    twice = changed(config, {"small.once": False}).for_size(2**18, 8)
    assert twice.refinement.passes(0, nets) == both


def test_the_coarsest_hypergraph_of_many_blocks_has_one_pass() -> None:
    small, large = (portpart.generators.netlist(n) for n in (5000, 6000))
    both = (0.75, 0.3)
    for k, config, wanted in ((33, portpart.HypergraphConfig(), (0.75,)),
                              (32, portpart.HypergraphConfig(), both),
                              (33, portpart_nets.STRONG, (0.9, 0.6, 0.3))):
        passes = config.passes(k)
        above = config.refinement.temperatures
        assert (passes(0, small), passes(2, small), passes(2, large)) == (
            config.refinement.finest_temperatures, wanted, above)


@pytest.mark.parametrize(("k", "wanted"), [(2, True), (64, False)])
def test_hypergraphs_that_are_not_coarsened_need_no_communities(
        monkeypatch: pytest.MonkeyPatch, k: int, wanted: bool) -> None:
    """4,000 vertices are more than the coarsest hypergraph has for 2 blocks, not for 64."""
    found: list[int] = []
    communities = portpart_nets.communities

    def noted(hypergraph: Any, *rest: Any) -> Any:
        found.append(hypergraph.num_vertices)
        return communities(hypergraph, *rest)

    monkeypatch.setattr(portpart_nets, "communities", noted)
    portpart.partition(portpart.generators.netlist(4000), k)
    assert found == [4000] * wanted


def test_a_small_hypergraph_is_searched_as_its_options_say() -> None:
    nets = portpart.generators.netlist(3000)
    small = portpart.partition(nets, 2)
    assert len(small.stats["cuts"]) == 2
    assert small.stats["cuts"] == sorted(small.stats["cuts"], reverse=True)
    again = portpart.partition(nets, 2, initial=small.part)
    assert len(again.stats["cuts"]) == 1
    assert len(portpart.partition(nets, 9).stats["cuts"]) == 1
