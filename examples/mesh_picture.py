"""Draw docs/wing.png: the blocks of a wing as ParaView shows its .pvtu file, without ghosts.

python examples/mesh_picture.py [FILE]

Needs the packages meshio and vtk, but no screen.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np
import vtk
from PIL import Image

import portpart

FILE = Path(__file__).resolve().parents[1] / "docs" / "wing.png"
BLOCKS = 16
CELLS = (40, 24, 6)
"""Hexahedra from root to tip, from the leading to the trailing edge, and through the wing."""

WIDTH, HEIGHT = 800, 400
COLOURS = 64


def wing() -> portpart.Mesh:
    """A swept wing of hexahedra, whose section is that of NACA 0012."""
    span, chord, thick = np.meshgrid(*(np.linspace(0, 1, n + 1) for n in CELLS), indexing="ij")
    x = 0.01 + 0.97 * chord**1.5
    height = 1.5 * (0.2969 * np.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    size = 1 - 0.6 * span
    points = np.stack([0.9 * span + size * x, 2.2 * span, size * height * (2 * thick - 1)], -1)
    number = np.arange(span.size).reshape(span.shape)
    around = ((0, 0), (0, 1), (1, 1), (1, 0))
    low = [number[i:, j:][: CELLS[0], : CELLS[1]] for i, j in around]
    corners = [each[..., h : h + CELLS[2]].ravel() for h in (0, 1) for each in low]
    return portpart.as_mesh({"hexahedron": np.stack(corners, 1)}, points=points.reshape(-1, 3))


def draw(pieces: str, blocks: int, file: Path) -> None:
    """Draw what ParaView shows of a .pvtu file: the surface of all own cells, coloured by block."""
    reader = vtk.vtkXMLPUnstructuredGridReader()
    reader.SetFileName(pieces)
    surface = vtk.vtkGeometryFilter()  # leaves out what vtkGhostType marks
    surface.SetInputConnection(reader.GetOutputPort())
    colours = vtk.vtkLookupTable()
    colours.SetNumberOfTableValues(blocks)
    for block in range(blocks):
        colours.SetTableValue(block, *matplotlib.colormaps["tab20"](block % 20))
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputConnection(surface.GetOutputPort())
    mapper.SetScalarModeToUseCellFieldData()
    mapper.SelectColorArray("block")
    mapper.SetScalarRange(0, blocks - 1)
    mapper.SetLookupTable(colours)
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetAmbient(0.45)
    actor.GetProperty().SetDiffuse(0.6)
    actor.GetProperty().EdgeVisibilityOn()
    actor.GetProperty().SetEdgeColor(0.35, 0.35, 0.35)
    scene = vtk.vtkRenderer()
    scene.SetBackground(1, 1, 1)
    scene.AddActor(actor)
    camera = scene.GetActiveCamera()
    camera.SetPosition(-4, -1, 5)
    camera.SetFocalPoint(0.8, 1.1, 0)
    camera.SetViewUp(0, 0, 1)
    camera.ParallelProjectionOn()
    scene.ResetCamera()
    camera.Zoom(1.5)
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetSize(WIDTH, HEIGHT)
    window.SetMultiSamples(8)
    window.AddRenderer(scene)
    window.Render()
    picture = vtk.vtkWindowToImageFilter()
    picture.SetInput(window)
    writer = vtk.vtkPNGWriter()
    writer.SetFileName(str(file))
    writer.SetInputConnection(picture.GetOutputPort())
    writer.Write()


def main(file: Path) -> None:
    """Partition the wing, write it with ghosts, and draw what was written."""
    mesh = wing()
    result = portpart.partition(mesh.dual_graph(), BLOCKS)
    with tempfile.TemporaryDirectory() as folder:
        written = str(Path(folder) / "wing.pvtu")
        portpart.io.write_submeshes(mesh.submeshes(result, ghosts=1), written)
        draw(written, BLOCKS, file)
    Image.open(file).convert("RGB").quantize(COLOURS).save(file, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
