"""Names beside points, placed to cover each other, the points and the lines as little as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation, Text
from numpy.typing import NDArray

from reports.style import INK, MUTED

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Place:
    """Where a name may stand: its offset from the point in points, and its side that is there."""

    x: float
    y: float
    horizontal: Literal["left", "center", "right"]
    vertical: Literal["bottom", "center", "top"]

    def box(self, point: Floats, size: tuple[float, float], pixels: float) -> tuple[float, ...]:
        """x0, y0, x1, y1 in pixels; ``pixels`` per point."""
        left = point[0] + self.x * pixels - size[0] * {"left": 0, "center": 0.5, "right": 1}[self.horizontal]
        bottom = point[1] + self.y * pixels - size[1] * {"bottom": 0, "center": 0.5, "top": 1}[self.vertical]
        return left, bottom, left + size[0], bottom + size[1]


# Near places first.
_PLACES = tuple(
    _Place(side.x * reach, side.y * reach, side.horizontal, side.vertical)
    for reach in (1.0, 2.2, 3.6)
    for side in (
        _Place(7, -1, "left", "center"),
        _Place(-7, 1, "right", "center"),
        _Place(5, -7, "left", "top"),
        _Place(-5, 7, "right", "bottom"),
        _Place(5, 7, "left", "bottom"),
        _Place(-5, -7, "right", "top"),
        _Place(0, -9, "center", "top"),
        _Place(0, 9, "center", "bottom"),
    )
)
_FAR = 12.0


def label_points(
    figure: Figure, axes: Axes, x: Sequence[float], y: Sequence[float], names: Sequence[str]
) -> list[Annotation]:
    """Write a name at each point; far ones get a line to their point. Call when the limits are final."""
    figure.draw_without_rendering()
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    pixels = figure.dpi / 72
    frame = np.array([axes.get_window_extent(renderer).extents])
    points = axes.transData.transform(np.column_stack([x, y]))
    around = np.column_stack([points - 4, points + 4])
    lines = [_small_boxes(line) for line in axes.lines if len(line.get_path()) > 1]
    notes, taken = [], np.concatenate([*lines, np.empty((0, 4))])
    for i, name in enumerate(names):
        note = axes.annotate(
            name,
            (x[i], y[i]),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=8.5,
            color=INK,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3},
        )
        extent = Text.get_window_extent(note, renderer)
        boxes = np.array([p.box(points[i], (extent.width, extent.height), pixels) for p in _PLACES])
        others = np.concatenate([taken, np.delete(around, i, axis=0)])
        outside = extent.width * extent.height - _overlap(boxes, frame)[:, 0]
        best = int(np.argmin(np.round(_overlap(boxes, others).sum(axis=1) + 3 * outside)))
        place = _PLACES[best]
        note.set_position((place.x, place.y))
        note.set_horizontalalignment(place.horizontal)
        note.set_verticalalignment(place.vertical)
        if max(abs(place.x), abs(place.y)) < _FAR and note.arrow_patch is not None:
            note.arrow_patch.set_visible(False)
        taken = np.concatenate([taken, boxes[best : best + 1]])
        notes.append(note)
    return notes


def _small_boxes(line: Line2D) -> Floats:
    """(80, 4) boxes along a line, in pixels."""
    corners = np.asarray(line.get_transform().transform_path(line.get_path()).vertices, dtype=float)
    steps, index = np.linspace(0, len(corners) - 1, 80), np.arange(len(corners))
    middle = np.column_stack([np.interp(steps, index, corners[:, axis]) for axis in (0, 1)])
    return np.column_stack([middle - 2, middle + 2])


def _overlap(a: Floats, b: Floats) -> Floats:
    """(n, m) areas that boxes (n, 4) and (m, 4) share."""
    low, high = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    return np.asarray(np.clip(high - low, 0, None).prod(axis=2))
