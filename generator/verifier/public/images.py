"""Images: small grey copies, and what is written beside the pixels."""

from __future__ import annotations

import io
import logging
import struct
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import ExifTags, Image, UnidentifiedImageError

log = logging.getLogger(__name__)

Floats = npt.NDArray[np.float64]

SIDE = 16
_TEXT = 300
#: What broken or hostile images raise.
BROKEN = (
    OSError, ValueError, SyntaxError, UnidentifiedImageError, Image.DecompressionBombError, EOFError,
    TypeError, IndexError, KeyError, OverflowError, struct.error, NotImplementedError, MemoryError,
)  # fmt: skip


class TooLarge(ValueError):
    """An image claims more pixels than are decoded."""


def thumbnail(path: Path, pixels: int) -> Floats:
    """A grey copy of an image, shape (256,): 16 x 16 values from 0 to 1.

    Raises:
        TooLarge: it has more pixels than that.
        *BROKEN: it cannot be decoded.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(path) as image:
            if image.width * image.height > pixels:
                raise TooLarge(f"{path.name}: {image.width} x {image.height} pixels")
            # JPEG is decoded at a size near to what is needed, many times as fast.
            image.draft("L", (4 * SIDE, 4 * SIDE))
            image.load()
            grey = image.convert("RGBA").convert("L") if image.mode in ("P", "PA", "LA") else image
            if grey.mode in ("I", "I;16", "F"):
                values = np.asarray(grey, dtype=float)
                span = np.ptp(values) or 1.0
                grey = Image.fromarray(((values - values.min()) / span * 255).astype(np.uint8))
            small = grey.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)
            return np.asarray(small, dtype=float).ravel() / 255.0


def image_facts(path: Path) -> dict[str, str]:
    """What an image's header says: width, height, mode, format, and every embedded text by its name.

    Raises:
        *BROKEN: it cannot be opened.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(path) as image:
            facts = {
                "width": str(image.width),
                "height": str(image.height),
                "pixels": str(image.width * image.height),
                "mode": image.mode,
                "format": image.format or "",
            }
            for key, value in image.info.items():
                if isinstance(value, (str, int, float, tuple)) or (
                    isinstance(value, bytes) and len(value) < _TEXT
                ):
                    facts[f"embedded {key}"] = _text(value)
            for number, value in _exif(image).items():
                facts[f"EXIF {ExifTags.TAGS.get(number, number)}"] = _text(value)
    trailing = _after_the_end(path)
    if trailing:
        facts["bytes after the image"] = trailing
    return facts


def _exif(image: Image.Image) -> dict[int, object]:
    exif = image.getexif()
    found: dict[int, object] = dict(exif)
    for place in (ExifTags.IFD.Exif, ExifTags.IFD.GPSInfo):
        found |= dict(exif.get_ifd(place))
    return found


def _text(value: object) -> str:
    if isinstance(value, bytes):
        value = (
            value.removeprefix(b"ASCII\0\0\0").removeprefix(b"UNICODE\0").decode("utf-8", errors="replace")
        )
    return str(value).replace("\0", "").strip()[:_TEXT]


def _after_the_end(path: Path) -> str:
    """What stands behind the last chunk of a PNG or JPEG file."""
    with path.open("rb") as stream:
        head = stream.read(8)
        stream.seek(0, io.SEEK_END)
        stream.seek(max(0, stream.tell() - 4_096))
        tail = stream.read()
    end = (
        b"IEND\xaeB`\x82"
        if head.startswith(b"\x89PNG")
        else b"\xff\xd9"
        if head.startswith(b"\xff\xd8")
        else b""
    )
    if not end or end not in tail:
        return ""
    return _text(tail[tail.rindex(end) + len(end) :])
