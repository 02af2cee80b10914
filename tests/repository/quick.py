"""The tests of `make quick`: some of every package, in a minute.

    python -m pytest $(python -m tests.repository.quick)
"""

from __future__ import annotations

FILES = {
    "": "tests/api/test_options.py",
    "algorithms/recipes": "tests/algorithms/recipes/test_presets.py",
    "algorithms/final_balance": "tests/algorithms/final_balance/test_repair.py",
    "algorithms/coarsening": "tests/algorithms/coarsening/test_two_hop_pairs.py",
    "algorithms/coarsening/ranks": "tests/algorithms/coarsening/test_rank_clustering.py",
    "algorithms/edits": "tests/algorithms/edits/test_edits.py",
    "algorithms/incremental": "tests/algorithms/incremental/test_incremental.py",
    "algorithms/initial": "tests/algorithms/multilevel/test_hierarchies.py",
    "algorithms/mapping": "tests/algorithms/mapping/test_sections.py",
    "algorithms/multilevel": "tests/algorithms/multilevel/test_numbering.py",
    "algorithms/objectives": "tests/algorithms/objectives/test_candidates.py",
    "algorithms/placement": "tests/algorithms/placement/test_swaps.py",
    "algorithms/refinement": "tests/algorithms/refinement/test_seam_constraints.py",
    "algorithms/refinement/blocks": "tests/algorithms/refinement/test_heavy_vertices.py",
    "algorithms/refinement/flows": "tests/algorithms/refinement/test_flows.py",
    "algorithms/refinement/gains": "tests/algorithms/refinement/test_active_sets.py",
    "algorithms/refinement/incumbent": "tests/algorithms/refinement/test_refinement.py",
    "algorithms/refinement/moves": "tests/algorithms/refinement/test_weight_copies.py",
    "algorithms/refinement/nets": "tests/algorithms/refinement/test_net_refinement.py",
    "algorithms/refinement/prefix": "tests/algorithms/refinement/test_best_prefix.py",
    "algorithms/refinement/ranks": "tests/algorithms/refinement/test_rank_refinement.py",
    "algorithms/refinement/rebalancing": "tests/algorithms/refinement/test_eviction.py",
    "api": "tests/api/test_api.py",
    "backends": "tests/primitives/test_name_index.py",
    "backends/programs": "tests/backends/programs/test_program.py",
    "backends/communication": "tests/backends/communication/test_communication.py",
    "backends/cpu": "tests/backends/cpu/test_cpu_space.py",
    "backends/cuda": "tests/backends/cuda/test_modules.py",
    "backends/language": "tests/backends/language/test_check.py",
    "base": "tests/base/test_interrupts.py",
    "cli": "tests/cli/test_cli_answers.py",
    "compat": "tests/compat/test_networkx.py",
    "compat/pymetis": "tests/compat/test_pymetis.py",
    "estimate": "tests/estimate/test_sizing_space.py",
    "formats": "tests/formats/test_damaged.py",
    "formats/netlist": "tests/formats/netlist/test_blif.py",
    "formats/netlist/verilog": "tests/formats/netlist/test_verilog.py",
    "formats/text": "tests/formats/text/test_tokens.py",
    "generators": "tests/generators/test_generators.py",
    "graphs": "tests/inputs/test_graph.py",
    "graphs/ranks": "tests/algorithms/refinement/test_rank_ghosts.py",
    "inputs": "tests/inputs/test_symmetrize.py",
    "io": "tests/io/test_hostfile.py",
    "metrics": "tests/metrics/test_metrics.py",
    "plot": "tests/plot/test_charts.py",
    "primitives": "tests/primitives/test_reduce.py",
    "sessions": "tests/sessions/test_escalation.py",
}
"""A file of tests for each package."""

if __name__ == "__main__":
    print(*FILES.values())
