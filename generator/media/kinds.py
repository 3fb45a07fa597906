"""Which files are media by their names, and what one file of each kind measures."""

from __future__ import annotations

import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PIL import Image, UnidentifiedImageError

from generator.tables.encoding import head

Kind = Literal["image", "audio", "text"]
SUFFIXES: dict[Kind, frozenset[str]] = {
    "image": frozenset({".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp"}),
    "audio": frozenset({".wav", ".flac", ".ogg", ".mp3", ".aif", ".aiff"}),
    "text": frozenset({".txt", ".md", ".html", ".htm", ".eml", ".rst", ""}),
}
#: Files about the data rather than of them.
_PAPERS = ("readme", "license", "licence", "copying", "notice", "changelog", "citation", "authors", "about")
_DOCUMENT_BYTES = 65_536


class Broken(ValueError):
    """A file of media that does not open; the message says why."""


@dataclass(frozen=True)
class Facts:
    """What one file measures, by the name of each measure, and its format's mode.

    An image has a width and a height in pixels, a recording seconds and a rate, a document words among its
    first bytes.
    """

    measures: tuple[tuple[str, float], ...]
    mode: str


def media_kind(path: Path) -> Kind | None:
    """The kind of a file by its name, or ``None``; a text file may also hold a table or a log."""
    for kind, suffixes in SUFFIXES.items():
        if path.suffix.lower() in suffixes and not (kind == "text" and path.stem.lower().startswith(_PAPERS)):
            return kind
    return None


def look(path: Path, kind: Kind) -> Facts:
    """What a file measures, read from its first bytes only.

    Raises:
        Broken: it does not open.
    """
    try:
        return {"image": _image, "audio": _sound, "text": _document}[kind](path)
    except (UnidentifiedImageError, OSError, EOFError, ValueError, SyntaxError, wave.Error) as error:
        raise Broken(str(error) or type(error).__name__) from error


def _image(path: Path) -> Facts:
    with Image.open(path) as image:
        return Facts((("width", image.width), ("height", image.height)), image.mode)


def _sound(path: Path) -> Facts:
    if path.suffix.lower() == ".wav":
        try:
            with wave.open(str(path), "rb") as sound:
                rate = sound.getframerate()
                return _heard(sound.getnframes() / rate, rate, sound.getnchannels())
        except wave.Error:
            pass  # another coding than plain samples
    try:
        import soundfile
    except ImportError as error:
        raise Broken("sounds of this format need a package: pip install 'mle-smith[audio]'") from error
    try:
        found = soundfile.info(str(path))
    except RuntimeError as error:
        raise Broken(str(error)) from error
    return _heard(found.frames / found.samplerate, found.samplerate, found.channels)


def _heard(seconds: float, rate: int, channels: int) -> Facts:
    if not seconds:
        raise Broken("a recording without sound")
    return Facts((("seconds", round(seconds, 3)), ("rate", rate)), f"{channels} channels")


def _document(path: Path) -> Facts:
    data = head(path, _DOCUMENT_BYTES)
    if b"\0" in data:
        raise Broken("not a text")
    words = len(data.decode("utf-8", "replace").split())
    if not words:
        raise Broken("a document without words")
    return Facts((("words", words),), path.suffix.lower() or "no suffix")
