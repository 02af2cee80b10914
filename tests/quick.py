"""The tests of `make quick`: some of every package, in a minute.

    python -m pytest $(python -m tests.quick)
"""

from __future__ import annotations

FILES = {
    "": "tests/test_options.py",
    "algorithms/recipes": "tests/algorithms/test_presets.py",
    "algorithms/final_balance": "tests/algorithms/test_repair.py",
    "algorithms/coarsening": "tests/algorithms/test_key_matching.py",
    "algorithms/coarsening/ranks": "tests/test_rank_clustering.py",
    "algorithms/edits": "tests/algorithms/test_edits.py",
    "algorithms/incremental": "tests/algorithms/test_incremental.py",
    "algorithms/initial": "tests/algorithms/test_hierarchies.py",
    "algorithms/mapping": "tests/mapping/test_sections.py",
    "algorithms/multilevel": "tests/algorithms/test_numbering.py",
    "algorithms/objectives": "tests/algorithms/test_candidates.py",
    "algorithms/placement": "tests/mapping/test_swaps.py",
    "algorithms/refinement": "tests/test_seam_constraints.py",
    "algorithms/refinement/blocks": "tests/algorithms/test_heavy_vertices.py",
    "algorithms/refinement/gains": "tests/algorithms/test_active_sets.py",
    "algorithms/refinement/incumbent": "tests/algorithms/test_refinement.py",
    "algorithms/refinement/moves": "tests/algorithms/test_weight_copies.py",
    "algorithms/refinement/nets": "tests/algorithms/test_net_refinement.py",
    "algorithms/refinement/prefix": "tests/algorithms/test_best_prefix.py",
    "algorithms/refinement/ranks": "tests/test_rank_refinement.py",
    "algorithms/refinement/rebalancing": "tests/algorithms/test_eviction.py",
    "api": "tests/test_api.py",
    "backends": "tests/primitives/test_name_index.py",
    "backends/programs": "tests/backends/test_program.py",
    "backends/communication": "tests/backends/test_communication.py",
    "backends/cpu": "tests/backends/test_cpu_space.py",
    "backends/cuda": "tests/backends/test_modules.py",
    "backends/language": "tests/backends/test_check.py",
    "base": "tests/test_interrupts.py",
    "cli": "tests/test_cli_answers.py",
    "compat": "tests/compat/test_networkx.py",
    "compat/pymetis": "tests/compat/test_pymetis.py",
    "estimate": "tests/test_memory.py",
    "formats": "tests/io/test_damaged.py",
    "formats/netlist": "tests/io/test_blif.py",
    "formats/netlist/verilog": "tests/io/test_verilog.py",
    "formats/text": "tests/io/test_tokens.py",
    "generators": "tests/generators/test_generators.py",
    "graphs": "tests/test_graph.py",
    "graphs/ranks": "tests/test_rank_ghosts.py",
    "inputs": "tests/test_symmetrize.py",
    "io": "tests/io/test_names.py",
    "metrics": "tests/metrics/test_metrics.py",
    "plot": "tests/plot/test_charts.py",
    "primitives": "tests/primitives/test_reduce.py",
    "sessions": "tests/test_escalation.py",
}
"""A file of tests for each package."""

if __name__ == "__main__":
    print(*FILES.values())
