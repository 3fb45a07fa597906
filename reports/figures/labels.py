"""Names beside points, placed so that they overlap each other and the points as little as possible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from reports.style import INK, MUTED

# Offsets in points with the side of the text that touches them: near places first.
_PLACES: tuple[tuple[float, float, str, str], ...] = tuple(
    (x * reach, y * reach, horizontal, vertical)
    for reach in (1.0, 2.2, 3.6)
    for x, y, horizontal, vertical in (
        (7, -1, "left", "center"),
        (-7, 1, "right", "center"),
        (5, -7, "left", "top"),
        (-5, 7, "right", "bottom"),
        (5, 7, "left", "bottom"),
        (-5, -7, "right", "top"),
        (0, -9, "center", "top"),
        (0, 9, "center", "bottom"),
    )
)


def label_points(
    figure: Figure, axes: Axes, x: Sequence[float], y: Sequence[float], names: Sequence[str]
) -> list[Annotation]:
    """Write a name at each point; far ones get a line to their point. Call when the limits are final."""
    canvas = FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    frame = axes.get_window_extent(renderer)
    points = [axes.transData.transform(point) for point in zip(x, y, strict=True)]
    taken = [Bbox.from_extents(px - 4, py - 4, px + 4, py + 4) for px, py in points]
    lines = [_small_boxes(line) for line in axes.lines if len(line.get_path()) > 1]
    notes = []
    for own, (px, py, name) in enumerate(zip(x, y, names, strict=True)):
        note = axes.annotate(
            name,
            (px, py),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=8.5,
            color=INK,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3},
        )
        best: tuple[float, Bbox, tuple[float, float, str, str]] | None = None
        for place in _PLACES:
            _put(note, place)
            box = note.get_window_extent(renderer)
            cost = sum(_overlap(box, other) for i, other in enumerate(taken) if i != own)
            cost += sum(_overlap(box, dot) for line in lines for dot in line)
            cost += 3 * (box.width * box.height - _overlap(box, frame))
            if best is None or cost < best[0] - 1:
                best = (cost, box, place)
            if best[0] <= 0:
                break
        assert best is not None
        _put(note, best[2])
        if max(abs(best[2][0]), abs(best[2][1])) < 12 and note.arrow_patch is not None:
            note.arrow_patch.set_visible(False)
        taken.append(best[1])
        notes.append(note)
    return notes


def _small_boxes(line: Line2D) -> list[Bbox]:
    """Boxes along a line, in pixels."""
    corners = np.asarray(line.get_transform().transform_path(line.get_path()).vertices, dtype=float)
    steps = np.linspace(0, len(corners) - 1, 80)
    xs, ys = (np.interp(steps, np.arange(len(corners)), corners[:, axis]) for axis in (0, 1))
    return [Bbox.from_extents(x - 2, y - 2, x + 2, y + 2) for x, y in zip(xs, ys, strict=True)]


def _put(note: Annotation, place: tuple[float, float, str, str]) -> None:
    note.set_position(place[:2])
    note.set_horizontalalignment(place[2])  # type: ignore[arg-type]
    note.set_verticalalignment(place[3])  # type: ignore[arg-type]


def _overlap(a: Bbox, b: Bbox) -> float:
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    return float(max(width, 0.0) * max(height, 0.0))
