"""Lists of nets: each net is on one of them at most, once."""

from __future__ import annotations

from portpart.algorithms.objectives.bitset_connectivity import AT_ONCE, AtOnce
from portpart.algorithms.objectives.pin_state import PinSets
from portpart.algorithms.refinement.nets.state import NetLists
from portpart.backends import language as kl


@kl.device
def list_net(net, small, large, sets: PinSets, lists: NetLists):
    """Put a net on the list of its kind, once; `small` and `large` are the words that count them.

    In any order.
    """
    if kl.atomic_load(lists.is_listed, net) == 0:
        if kl.atomic_cas(lists.is_listed, net, kl.int32(0), kl.int32(1)) == 0:
            if sets.row[net] < 0:
                lists.small_list[kl.atomic_next(lists, small)] = net
            else:
                lists.large_list[kl.atomic_next(lists, large)] = net
    return net


@kl.device
def claim_net(net, listed, wanted, lists: NetLists):
    """1 if the caller has to put a net on its list, which was not `listed` a moment ago; else 0."""
    claimed = kl.int64(0)
    if wanted != 0 and listed == 0:
        claimed = kl.int64(kl.atomic_cas(lists.is_listed, net, kl.int32(0), kl.int32(1)) == 0)
    return claimed


@kl.device
def places_on_list(count, small, lists: NetLists):
    """The first of this many places for each lane on the list of small nets.

    All lanes of a team together.
    """
    until = kl.team_scan(count)
    total = kl.team_last(until)
    first = kl.int64(0)
    if total > 0:
        if kl.lane() == kl.team_size() - 1:
            first = kl.atomic_add(lists, small, total)
        first = kl.team_last(first)
    return first + until - count


@kl.device
def list_claimed(net, claimed, place, large, sets: PinSets, lists: NetLists):
    """Put a net that has been claimed on its list, a small one at a place; returns the next one."""
    after = kl.int64(place)
    if claimed != 0:
        if sets.row[net] < 0:
            lists.small_list[place] = kl.int32(net)
            after += 1
        else:
            lists.large_list[kl.atomic_next(lists, large)] = kl.int32(net)
    return after


@kl.device
def nets_within(place, end):
    """A bit for each of the places of a lane from `place` on that is before the end."""
    within = kl.int64(0)
    for j in kl.static_range(AT_ONCE):
        within += kl.int64(place + j * kl.team_size() < end) << j
    return within


@kl.device
def list_nets(nets: AtOnce, asked, small, large, sets: PinSets, lists: NetLists):
    """Put those nets of a lane whose bits are `asked` on the lists of their kinds, once.

    Each access is made for all of them before anything waits for it.  All lanes of a team together;
    in any order.
    """
    listed = AtOnce()
    claimed = AtOnce()
    for j in kl.static_range(AT_ONCE):
        listed[j] = kl.atomic_load(lists.is_listed, nets[j])
    for j in kl.static_range(AT_ONCE):
        claimed[j] = claim_net(nets[j], listed[j], asked & (1 << j), lists)
    count = kl.int64(0)
    for j in kl.static_range(AT_ONCE):
        count += claimed[j] * kl.int64(sets.row[nets[j]] < 0)
    place = places_on_list(count, small, lists)
    for j in kl.static_range(AT_ONCE):
        place = list_claimed(nets[j], claimed[j], place, large, sets, lists)
    return place


@kl.device
def unlist(net, lists: NetLists):
    """A net may be listed again."""
    lists.is_listed[net] = kl.int32(0)
    return net


@kl.kernel
def empty_lists(_, lists: NetLists):
    """Nets must be listed again."""
    lists.small_listed = 0
    lists.large_listed = 0
    lists.small_touched = 0
    lists.large_touched = 0
