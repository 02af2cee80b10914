"""What refinement does about gains: bring those up to date that moves have changed."""

from __future__ import annotations

from portpart.algorithms.objectives.cut import COUNTING_TEAM, HUB_TEAM
from portpart.algorithms.refinement.gains.by_degree import DIRTY, ByDegree
from portpart.algorithms.refinement.gains.gain_cache import begin_vertex, refreshed
from portpart.algorithms.refinement.level import More
from portpart.algorithms.refinement.piece import Piece, Recording
from portpart.backends.program import Element


class GainSteps(Piece):
    """The gain cache, and the lists of vertices that iterations touch."""

    def begin(self, this: Recording) -> None:
        """Nothing is known of any vertex."""
        this.program.launch(this.run.level.vertices, begin_vertex)

    def refresh(self, this: Recording) -> None:
        """Bring the gains of neighbours of moves up to date."""
        program, level, widths = this.program, this.run.level, this.widths
        kernels = ByDegree(refreshed, DIRTY, this.rules)
        for team, one_lane in widths.of_list(widths.team):
            max_degree = widths.one_lane if one_lane else widths.few
            if max_degree >= 0:
                program.launch(level.dirty, kernels.few(widths.counter, max_degree), team=team,
                               one_lane=one_lane, more=More())
        launch_many(this, level.dirty_groups, kernels)
        if not widths.summed:
            launch_hubs(this, level.hubs, kernels)

    def refresh_hubs(self, this: Recording) -> None:
        """The same for hubs whose ties have been summed up."""
        if this.widths.summed:
            launch_hubs(this, this.run.level.hubs, ByDegree(refreshed, DIRTY, this.rules))


def launch_by_degree(this: Recording, count: Element, hubs: Element, kernels: ByDegree,
                     more: More | None = None) -> None:
    """Launch the kernels for vertices with few and with many neighbours, and for hubs.

    Of the kernels for kinds of vertices that the graph has not, none.  They get `more`.
    """
    widths = this.widths
    with this.program.side_by_side():
        if widths.few >= 0:
            this.program.launch(count, kernels.few(widths.counter, widths.few), team=widths.team,
                                one_lane=0, more=more or More())
        launch_many(this, count, kernels, more)
        launch_hubs(this, hubs, kernels, more)


def launch_many(this: Recording, count: Element, kernels: ByDegree,
                more: More | None = None) -> None:
    """Launch the kernel for vertices with many neighbours, if there are any."""
    if this.widths.many:
        this.program.launch(count, kernels.many(this.widths.counter), team=this.rules.team_of_many,
                            more=more or More())


def launch_hubs(this: Recording, hubs: Element, kernels: ByDegree,
                more: More | None = None) -> None:
    """Launch the kernel for hubs, if there are any; those with sums are work for fewer lanes."""
    widths = this.widths
    if widths.hubs:
        this.program.launch(hubs, kernels.of_hub(widths.counter, widths.summed),
                            team=COUNTING_TEAM if widths.summed else HUB_TEAM,
                            more=more or More())
