"""``portpart generate``: write a synthetic graph; the kinds are those of `portpart.generators`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from portpart import generators
from portpart.cli import files
from portpart.cli.output import print_text, sizes_text

if TYPE_CHECKING:
    from portpart.graphs import Graph, Hypergraph

Function = TypeVar("Function", bound=Callable[..., Any])

count = click.IntRange(min=1)


@click.group("generate", no_args_is_help=False)
def command() -> None:
    """Generate a graph or hypergraph; the same arguments always give the same one."""


def _written(make: Callable[..., Graph | Hypergraph]) -> Callable[..., None]:
    """Return a command that writes the result of a function, with options for the output."""
    @click.option("-o", "--output", metavar="FILE", required=True, help="File; - for stdout.")
    @click.option("--format", "file_format", metavar="NAME", help="Default: by the suffix.")
    @wraps(make)
    def function(output: str, file_format: str | None, **given: Any) -> None:
        graph = make(**given)
        files.write_graph(graph, output, file_format)
        print_text(f"{output}: {sizes_text(files.sizes_of(graph))}", to_stderr=True)

    return function


def _seed(default: int) -> Callable[[Function], Function]:
    return click.option("--seed", type=click.IntRange(min=0), default=default, show_default=True)


@command.command("grid")
@click.argument("sides", type=count, nargs=-1, required=True)
@_written
def grid(sides: tuple[int, ...]) -> Graph:
    """Grid with the given SIDES: two for a 5-point, three for a 7-point stencil."""
    makers: dict[int, Callable[..., Graph]] = {2: generators.grid_2d, 3: generators.grid_3d}
    if len(sides) not in makers:
        raise click.UsageError(f"a grid has 2 or 3 sides, not {len(sides)}")
    return makers[len(sides)](*sides)


@command.command("delaunay")
@click.argument("vertices", type=count)
@_seed(1)
@_written
def delaunay(vertices: int, seed: int) -> Graph:
    """Delaunay triangulation of random points in the unit square."""
    return generators.delaunay(vertices, seed)


@command.command("rgg")
@click.argument("vertices", type=count)
@_seed(2)
@click.option("--radius", type=click.FloatRange(min=0), help="Default: mean degree 0.95 ln n.")
@click.option("--dimensions", type=click.IntRange(2, 3), default=2, show_default=True)
@_written
def rgg(vertices: int, seed: int, radius: float | None, dimensions: int) -> Graph:
    """Random geometric graph: edges join close points in the unit square or cube."""
    return generators.random_geometric(vertices, seed, radius, dimensions)


@command.command("rmat")
@click.argument("scale", type=click.IntRange(min=0))
@click.option("--edge-factor", type=count, default=16, show_default=True)
@_seed(3)
@_written
def rmat(scale: int, edge_factor: int, seed: int) -> Graph:
    """R-MAT graph of 2^SCALE vertices: skewed degrees, as in social networks."""
    return generators.rmat(scale, edge_factor, seed)


@command.command("road")
@click.argument("vertices", type=count)
@_seed(4)
@_written
def road(vertices: int, seed: int) -> Graph:
    """Road network with points between junctions; about 1.06 edges per vertex."""
    return generators.road_network(vertices, seed)


@command.command("airfoil")
@click.argument("vertices", type=count)
@_seed(0)
@click.option("--points", metavar="FILE", help="Also write the coordinates as a .npy file.")
@_written
def airfoil(vertices: int, seed: int, points: str | None) -> Graph:
    """Unstructured mesh around an airfoil, finer near it."""
    mesh = generators.airfoil_mesh(vertices, seed)
    if points:
        import numpy as np

        np.save(points, mesh.points)
    return mesh.graph


@command.command("netlist")
@click.argument("vertices", type=count)
@click.option("--fanout", type=click.FloatRange(min=2), default=2.6, show_default=True)
@click.option("--rent", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.65,
              show_default=True)
@_seed(6)
@_written
def netlist(vertices: int, fanout: float, rent: float, seed: int) -> Hypergraph:
    """Hypergraph like a netlist: one net per gate, with locality by Rent's rule."""
    return generators.netlist(vertices, fanout, rent, seed)

