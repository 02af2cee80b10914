"""What a vertex's move does to the gains of a bisection, as a value.

Growing and two-way refinement go by gains, and know neither arcs nor nets.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.backends.language import DeviceFunction, Kernel, Static


@dataclass(frozen=True)
class GainRule(Static):
    """How gains follow from sides: what compiled programs depend on.

    Attributes
    ----------
    name : str
    inside : DeviceFunction
        ``inside(i, graph, candidates, state)``: a lane's share of what it costs to have vertex i of
        all candidates on one side, and all others of its bisection on the other.
    pull : DeviceFunction
        ``pull(i, graph, candidates, attempts, state)``: a lane's share of what vertex i costs more
        on side 0 than on side 1; vertices without a projected side do not count.
    begin_key : Kernel
        ``begin_key(i, graph, candidates, attempts, state)``: computes the key of vertex i from all
        sides, and adds its share of the cut; or leaves both to `add_gains`.
    follow : DeviceFunction
        ``follow(p, here, opening, bisection, graph, candidates, attempts)``: lets the gains of
        others follow when the vertex at p, which is returned, leaves side `here`; those in the
        state `opening` that it is joined to may leave side 1 from now on.
    undo : DeviceFunction
        ``undo(made, kept, again, bisection, graph, candidates, attempts)``: undoes all moves
        but the first `kept`; keys follow if they are used `again`.
    add_gains : tuple of Kernel, optional
        ``add(i, graph, candidates, attempts, state)``: add to keys and cuts what net i of all
        candidates does, if it has few pins, and what those of many pins in group i do; where
        vertices of many nets would be much work for a team.
    shares : bool
        Whether `follow` needs the scratch memory of `AttemptScratch`.
    """

    name: str
    inside: DeviceFunction
    pull: DeviceFunction
    begin_key: Kernel
    follow: DeviceFunction
    undo: DeviceFunction
    add_gains: tuple[Kernel, Kernel] | None = None
    shares: bool = False
