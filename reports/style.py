"""One look for all figures: type, colours, a colour and marker per model, and how a figure becomes files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

P = ParamSpec("P")
R = TypeVar("R")
Dashes = tuple[float, tuple[float, ...]]

INK = "#1f2933"
MUTED = "#667085"
GRID = "#e4e7ec"
ACCENT = "#0072b2"
SEQUENTIAL = "cividis"
PNG_DPI = 180

# Okabe and Ito's colours without yellow, which a white page swallows, then colours of Paul Tol's muted set.
PALETTE = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
    "#555555", "#882255", "#999933", "#332288", "#44aa99", "#aa4499",
)  # fmt: skip
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "p", "h", "<", ">")
DASHES: tuple[Dashes, ...] = ((0, ()), (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))

_RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.7,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # Names of models are text, whatever signs they hold.
    "text.parse_math": False,
    # The same figure gives the same SVG: ids come from this salt, and letters are outlines.
    "svg.hashsalt": "mle-smith",
    "svg.fonttype": "path",
}


@dataclass(frozen=True)
class Look:
    """How one model is drawn in every figure."""

    colour: str
    marker: str
    dashes: Dashes


def looks(models: Iterable[str]) -> dict[str, Look]:
    """One look per model, by its place among the sorted names.

    Give every figure of a report the looks of all its models, so that a model keeps its colour. Beyond twelve
    models colours repeat with another marker and dash pattern.
    """
    return {
        model: Look(
            PALETTE[i % len(PALETTE)],
            MARKERS[i % len(MARKERS)],
            DASHES[i // len(PALETTE) % len(DASHES)],
        )
        for i, model in enumerate(sorted(set(models)))
    }


def looks_for(models: Iterable[str], given: Mapping[str, Look] | None) -> Mapping[str, Look]:
    """The given looks, or those of these models alone."""
    return looks(models) if given is None else given


@contextmanager
def styled_context() -> Iterator[None]:
    """The project's settings on top of matplotlib's own defaults, whatever the user's files say."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        yield


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Decorator: draw with the project's settings."""

    @wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with styled_context():
            return draw(*args, **kwargs)

    return wrapper


def short_name(model: str, longest: int = 28) -> str:
    """A name for an axis: without its provider, cut when very long."""
    name = model.rsplit("/", 1)[-1] or model
    return name if len(name) <= longest else name[: longest - 1] + "…"


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Short names, or whole ones where two models would share one."""
    names = {model: short_name(model) for model in models}
    counts = list(names.values())
    return {m: n if counts.count(n) == 1 else m for m, n in names.items()}


def say_nothing(axes: Axes, reason: str) -> None:
    """Empty axes that say why they are empty."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, reason, ha="center", va="center", color=MUTED, transform=axes.transAxes, wrap=True)


@dataclass(frozen=True)
class SavedFigure:
    """The two files of one figure."""

    png: Path
    svg: Path


def save_figure(figure: Figure, folder: Path, name: str) -> SavedFigure:
    """Write ``<name>.png`` and ``<name>.svg``; the same figure gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    saved = SavedFigure(folder / f"{name}.png", folder / f"{name}.svg")
    with styled_context():
        _freeze_layout(figure)
        figure.savefig(saved.png, dpi=PNG_DPI, metadata={"Software": None})
        figure.savefig(saved.svg, metadata={"Date": None, "Creator": None})
    return saved


def _freeze_layout(figure: Figure) -> None:
    """Lay a figure out once, for both files, and round away the solver's noise in the last bits."""
    figure.draw_without_rendering()
    figure.set_layout_engine(None)  # "none" would leave a placeholder, for which each file is drawn twice
    for axes in figure.axes:
        axes.set_position(np.round(axes.get_position(original=True).bounds, 6).tolist())
    for text in figure.texts:
        text.set_position(np.round(text.get_position(), 6).tolist())
