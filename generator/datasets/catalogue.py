"""The raw datasets the generator starts from, and the card that says where each comes from.

A dataset is a folder of raw files, with an optional card ``dataset.toml`` beside them. The embedded ones
lie in this folder; a user's own folder needs no card.
"""

from __future__ import annotations

import difflib
import hashlib
import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import InputError

HERE = Path(__file__).parent
CARD = "dataset.toml"


class DatasetError(InputError):
    """A dataset that cannot be found or whose card cannot be read; the message says how to put it right."""


class DatasetCard(BaseModel):
    """What is known about a raw dataset beyond its files; every field but the name may be missing.

    ``sha256`` is that of the one raw file, or of the lines ``"<relative path>\\0<sha256>\\n"`` of all of
    them, sorted by path: the rule of ``source.sha256`` in a task package.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: int = Field(default=1, ge=1, le=1)
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: str = ""
    description: str = ""
    modality: str | None = None
    licence: str = "unknown"
    url: str | None = None
    package: str | None = None
    version: str | None = None
    member: str | None = None
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")


def raw_files(folder: Path) -> list[Path]:
    """All raw files below ``folder``, sorted by relative path: not the card, nor hidden files."""
    inside = (path for path in folder.rglob("*") if path.is_file() and path != folder / CARD)
    visible = (
        path for path in inside if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    return sorted(visible, key=lambda path: path.relative_to(folder).as_posix())


def fingerprint(folder: Path) -> str:
    """The SHA-256 of the raw files of ``folder``, by the rule in ``DatasetCard``."""
    hashes = [
        (path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())
        for path in raw_files(folder)
    ]
    if len(hashes) == 1:
        return hashes[0][1]
    lines = "".join(f"{name}\0{digest}\n" for name, digest in hashes)
    return hashlib.sha256(lines.encode()).hexdigest()


def load_card(path: Path) -> DatasetCard:
    """The card of the dataset in the folder ``path``; without a ``dataset.toml``, one with the folder's name.

    Raises:
        DatasetError: the folder is missing or empty, or the card is not valid.
    """
    if not path.is_dir():
        raise DatasetError(f"{path}: no such folder; a dataset is a folder of raw files (CSV, images, ...)")
    if not raw_files(path):
        raise DatasetError(f"{path}: the folder holds no raw files; put the data there (CSV, images, ...)")
    if not (path / CARD).is_file():
        return DatasetCard(name=_slug(path.resolve().name), title=path.resolve().name)
    return read_card(path / CARD)


def read_card(card: Path) -> DatasetCard:
    """The card in the file ``card``; raises ``DatasetError`` that names the fields at fault."""
    try:
        return DatasetCard.model_validate(tomllib.loads(card.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DatasetError(f"{card}: not a valid TOML file ({error}); correct it or remove it") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise DatasetError(f"{card}: {faults}; correct these fields or remove the card") from error


def list_datasets() -> list[DatasetCard]:
    """The cards of the embedded datasets, by name."""
    return [load_card(card.parent) for card in sorted(HERE.glob(f"*/{CARD}"))]


def dataset_path(name: str) -> Path:
    """The folder of an embedded dataset.

    Raises:
        DatasetError: no dataset has that name; the message lists the nearest ones.
    """
    known = [card.parent.name for card in sorted(HERE.glob(f"*/{CARD}"))]
    if name in known:
        return HERE / name
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else f"the embedded ones are {', '.join(known)}"
    raise DatasetError(f"{name}: no such folder or file, and no embedded dataset of that name; {hint}")


def _slug(name: str) -> str:
    """A folder's name as a dataset name: characters that a name cannot hold become dashes."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in name).strip("._-")
    return kept or "dataset"
