"""A social graph of which a database holds the last days, on servers that follow it.

    python examples/social_graph.py [--days 60] [--joins 60] [-k 8] [--folder FOLDER]

People join, make friends among friends of their friends, and write to them; an edge is a pair that
has written within the last 14 days, its weight how often.  The session follows day by day; beside
it stands the rule that most databases have, a hash of the name.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from zlib import crc32

import matplotlib.pyplot as plt
import numpy as np

import portpart

plt.switch_backend("Agg")

OUTPUT = Path(__file__).resolve().parents[1] / "demo-output"
WINDOW = 14
FIRST_DAYS = 10
CIRCLE = 12
"""People who know each other from the start."""


def main() -> None:
    """Make the messages, follow them, count what goes between servers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--joins", type=int, default=60, help="new people a day")
    parser.add_argument("-k", type=int, default=8, help="servers")
    parser.add_argument("--folder", type=Path, default=OUTPUT)
    options = parser.parse_args()
    days, senders, readers = messages(options.days, options.joins)
    print(f"{len(days):,} messages of {senders.max() + 1:,} people in {options.days} days")

    window = Window()
    session = portpart.Session(portpart.from_edges([], num_vertices=0), options.k, migration=1)
    shares, hashed, moved, milliseconds = [], [], [], []
    for day in range(1, options.days + 1):
        recent = (days >= day - WINDOW) & (days < day)
        pairs = list(zip(senders[recent].tolist(), readers[recent].tolist()))
        batch = session.batch()
        window.move_to(pairs, batch)
        update = session.apply(batch)
        server = {person: int(session.part[id]) for person, id in window.ids.items()}
        between = sum(server[one] != server[other] for one, other in pairs)
        if between != update.cut or not update.feasible:
            raise SystemExit("the session has miscounted: a defect, please report it")
        shares.append(between / len(pairs))
        hashed.append(sum(hashed_to(one, options.k) != hashed_to(other, options.k)
                          for one, other in pairs) / len(pairs))
        moved.append(update.moved)
        milliseconds.append(1000 * update.seconds)
    late = slice(FIRST_DAYS, None)
    print(f"between servers: {np.mean(shares[late]):.1%} of the messages, by a hash "
          f"{np.mean(hashed[late]):.1%}")
    print(f"moved in a day: {np.mean(moved[late]):.1f} of {len(window.ids):,} people; a day takes "
          f"{np.median(milliseconds):.1f} ms in the median")
    options.folder.mkdir(parents=True, exist_ok=True)
    picture = options.folder / "social_graph.png"
    draw(shares, hashed, moved, picture)
    print(f"written: {picture}")


class Window:
    """The pairs that have written of late, and the ids of the people in them."""

    def __init__(self) -> None:
        self.ids: dict[int, int] = {}
        self.counts: Counter[tuple[int, int]] = Counter()

    def move_to(self, pairs: list[tuple[int, int]], batch: portpart.GraphBatch) -> None:
        """Add to a batch what differs from the pairs before: people, edges, and their weights."""
        before, self.counts = self.counts, Counter(
            (min(pair), max(pair)) for pair in pairs if pair[0] != pair[1])
        people = {person for pair in pairs for person in pair}
        new, gone = sorted(people - self.ids.keys()), sorted(self.ids.keys() - people)
        self.ids.update(zip(new, batch.insert_vertices(count=len(new)).tolist()))
        for pair in sorted(before.keys() | self.counts.keys()):
            ends, weight = ([self.ids[person]] for person in pair), self.counts[pair]
            if weight and not before[pair]:
                batch.insert_edges(*ends, [weight])
            elif weight and weight != before[pair]:
                batch.set_edge_weights(*ends, [weight])
            elif not weight and people.issuperset(pair):
                batch.delete_edges(*ends)
        batch.delete_vertices([self.ids.pop(person) for person in gone])


def hashed_to(person: int, k: int) -> int:
    """The server that a person is on by a hash of the name."""
    return (crc32(str(person).encode()) >> 16) % k


def messages(num_days: int, joins: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Day, sender and reader of each message."""
    random = np.random.default_rng(4)
    friends: list[list[int]] = []
    found: Counter[tuple[int, int, int]] = Counter()
    for day in range(num_days):
        for _ in range(joins):
            join(friends, random)
        for person in range(max(0, len(friends) - 25 * joins), len(friends)):
            for _ in range(2):
                other = friends[person][int(random.integers(len(friends[person])))]
                found[day, person, other] += 1
    rows = np.array(list(found.elements()))
    return rows[:, 0], rows[:, 1], rows[:, 2]


def join(friends: list[list[int]], random: np.random.Generator) -> None:
    """A person comes: to a circle of its own time, and to friends of somebody's friends."""
    new = len(friends)
    friends.append([])
    circle = range(new - new % CIRCLE, new)
    known = set(circle[-4:])
    if new > CIRCLE:
        guide = int(random.integers(max(0, new - 200), new))
        known |= {guide, *friends[guide][:2]}
    for other in sorted(known - {new}):
        friends[new].append(other)
        friends[other].append(new)
    if not friends[new]:  # writes notes to itself
        friends[new].append(new)


def draw(shares: list[float], hashed: list[float], moved: list[int], file: Path) -> None:
    """Draw shares of messages between servers, and people moved, day by day."""
    figure, (above, below) = plt.subplots(2, 1, figsize=(10, 8), sharex=True)
    above.plot(hashed, color="0.6", label="by a hash of the name")
    above.plot(shares, color="C0", label="session")
    above.set(title="messages between servers", ylim=(0, 1))
    above.legend()
    below.bar(range(len(moved)), moved, color="C0")
    below.set(title="people moved to another server", xlabel="day")
    figure.savefig(file, dpi=80, bbox_inches="tight")
    plt.close(figure)


if __name__ == "__main__":
    main()
