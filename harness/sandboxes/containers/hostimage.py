"""A root filesystem made of this machine's own Python: for tests, and for hosts that reach no registry.

It holds the interpreter, its standard library and packages, the shared libraries these need, a shell and a
few common programs; readable for everybody, and at the paths they have here, but for a virtual environment,
which may lie anywhere here and lies at a fixed path there. What :mod:`harness.sandboxes.hidden` names is
empty, and no file of this project is there.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import re
import shutil
import ssl
import subprocess
import sys
import sysconfig
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import BinaryIO

from harness.errors import SandboxUnavailable
from harness.sandboxes import hidden

_RECIPE = "5"
_PROJECT = "mle-smith"
#: Parts of the standard library that programs do not need.
_LEFT_OUT = ("test", "idlelib", "turtledemo", "ensurepip", "lib2to3", "site-packages", "dist-packages")
_COMMANDS = (
    *("sh", "bash", "env", "cat", "cp", "mv", "rm", "ls", "ln", "mkdir", "rmdir", "touch", "chmod", "mktemp"),
    *(
        "head",
        "tail",
        "wc",
        "sort",
        "uniq",
        "cut",
        "tr",
        "tee",
        "paste",
        "grep",
        "sed",
        "awk",
        "find",
        "xargs",
    ),
    *("diff", "sleep", "timeout", "true", "false", "date", "id", "nproc", "df", "du", "stat", "uname", "seq"),
    *("basename", "dirname", "readlink", "realpath", "kill", "ps", "tar", "gzip", "gunzip", "printf", "dd"),
    *("md5sum", "sha256sum", "nohup", "setsid", "truncate", "mkfifo", "which", "test", "printenv"),
    *("yes", "expr"),
)
_PREFIX = Path(sys.prefix).resolve()
_BASE_PREFIX = Path(sys.base_prefix).resolve()
#: Where a virtual environment lies in the image, as in the image that is built.
_ENVIRONMENT = Path("/opt/agent")
#: What containers cover with folders in memory.
_COVERED = ("/tmp", "/var/tmp", "/dev")
_PASSWD = "root:x:0:0:root:/:/bin/false\nagent:x:65532:65532:agent:/tmp:/bin/sh\n"
_GROUP = "root:x:0:\nagent:x:65532:\n"


def search_path() -> str:
    """The image's ``PATH``: this Python's programs before the system's."""
    return f"{moved(_PREFIX) / 'bin'}:/usr/local/bin:/usr/bin:/bin"


def moved(path: Path) -> Path:
    """Where the image has a file or folder of this machine.

    Args:
        path: absolute, with no link in it.
    """
    if _PREFIX != _BASE_PREFIX and path.is_relative_to(_PREFIX):
        return _ENVIRONMENT / path.relative_to(_PREFIX)
    return path


def check() -> None:
    """Raise :class:`SandboxUnavailable` where containers would not show this Python."""
    if any(_BASE_PREFIX.is_relative_to(covered) for covered in _COVERED):
        raise SandboxUnavailable(
            f"this Python is installed in {_BASE_PREFIX}, and containers cover {' and '.join(_COVERED)}; "
            "use a Python that is installed elsewhere, or build an image without --host"
        )


def key() -> str:
    """What the image is made of, in one word: the same key, the same content."""
    installed = sorted(f"{found.name}=={found.version}" for found in metadata.distributions())
    places = (str(moved(_PREFIX)), str(_BASE_PREFIX))
    left_out = (*hidden.OUR_PACKAGES, *hidden.BUNDLED_DATA)
    parts = (_RECIPE, sys.version, *places, platform.platform(), *left_out, *installed)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@contextmanager
def stream() -> Iterator[BinaryIO]:
    """The filesystem as a tar archive that is written while it is read."""
    reader, writer = os.pipe()
    failures: list[BaseException] = []

    def write() -> None:
        try:
            with os.fdopen(writer, "wb") as target, tarfile.open(fileobj=target, mode="w|") as tar:
                _write(tar)
        except BrokenPipeError:
            pass  # the reader has given up, and says why
        except BaseException as error:  # noqa: BLE001 - raised again below
            failures.append(error)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    with os.fdopen(reader, "rb") as source:
        yield source
    thread.join()
    if failures:
        raise failures[0]


def _write(tar: tarfile.TarFile) -> None:
    paths = _Paths()
    programs = [Path(found) for found in map(shutil.which, _COMMANDS) if found]
    for path in (*_interpreters(), *programs):
        paths.add(path)
    for tree in _trees():
        paths.add_tree(tree)
    objects = [path for path in paths.files if ".so" in path.name or path.parent.name == "bin"]
    for library in _libraries(objects):
        paths.add(library)
    # Links into /usr on most systems, and within a virtual environment.
    for link in (*(Path("/", name) for name in ("bin", "sbin", "lib", "lib64")), _PREFIX / "lib64"):
        if link.is_symlink():
            paths.found[link] = None
    certificates = ssl.get_default_verify_paths()
    for name in ("/etc/ld.so.cache", certificates.cafile or certificates.openssl_cafile):
        paths.add(Path(name))
    _write_folders(tar, paths)
    for path in paths.found:
        tar.add(path, str(moved(path)), recursive=False, filter=partial(_entry, path))
    texts = {"etc/passwd": _PASSWD, "etc/group": _GROUP}
    if (settings := _PREFIX / "pyvenv.cfg").is_file():
        texts[str(moved(settings)).lstrip("/")] = _environment_settings(settings)
    for name, text in texts.items():
        entry = tarfile.TarInfo(name)
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text.encode()))


class _Paths:
    """Files and links to put into the image, each once, and with every link on the way to them.

    Attributes:
        found: in the order in which they were found.
        emptied: folders that stay, without what is in them: some are imported.
    """

    def __init__(self) -> None:
        self.found: dict[Path, None] = {}
        self.emptied = {path.resolve() for path in hidden.hidden_folders()}
        self._hidden = self.emptied | _project_files()

    @property
    def files(self) -> list[Path]:
        return [path for path in self.found if not path.is_symlink()]

    def add(self, path: Path) -> None:
        """A file, or a link and what it points to. Nothing where there is none."""
        for parent in reversed(path.parents):
            if parent.is_symlink():
                self.found[parent] = None
                self.add(parent.resolve() / path.relative_to(parent))
                return
        if path.is_symlink():
            self.found[path] = None
            self.add(Path(os.path.normpath(path.parent / path.readlink())))
        elif path.is_file():
            self.found[path] = None

    def add_tree(self, tree: Path) -> None:
        """All files below a folder but the hidden ones."""
        skipped = {tree / name for name in _LEFT_OUT} | self._hidden
        for folder, folders, names in os.walk(tree):
            here = Path(folder)
            folders[:] = [name for name in folders if here / name not in skipped]
            for path in (here / name for name in names):
                if path.is_symlink():
                    self.add(path)
                elif path not in skipped:
                    self.found[path] = None


def _trees() -> list[Path]:
    """The standard library, and the folders of installed packages."""
    sites = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    return [Path(path).resolve() for path in (sysconfig.get_path("stdlib"), *sites) if Path(path).is_dir()]


def _interpreters() -> list[Path]:
    executable = Path(sys.executable)
    names = ("python", "python3", f"python3.{sys.version_info.minor}")
    return [*(_PREFIX / "bin" / name for name in names), executable.parent.resolve() / executable.name]


def _environment_settings(path: Path) -> str:
    """A ``pyvenv.cfg`` without what it says of the environment's own place here."""
    kept = ("home", "include-system-site-packages")
    lines = path.read_text().splitlines()
    return "".join(f"{line}\n" for line in lines if line.partition("=")[0].strip() in kept)


def _project_files() -> set[Path]:
    """What the installation of this project has put among the packages."""
    try:
        files = metadata.distribution(_PROJECT).files or []
    except metadata.PackageNotFoundError:
        return set()
    return {Path(str(file.locate())).resolve() for file in files}


def _libraries(objects: list[Path]) -> set[Path]:
    """The shared libraries that programs and extension modules load, by the loader's own account."""
    said = subprocess.run(["ldd", *map(str, objects)], capture_output=True, text=True, check=False).stdout
    found = re.findall(r"^\t(?:\S+ => )?(/\S+) \(0x", said, re.MULTILINE)
    return {Path(os.path.normpath(path)) for path in found}


def _write_folders(tar: tarfile.TarFile, paths: _Paths) -> None:
    """The folders above all files, open to everybody, and those that every system has."""
    found = {moved(path) for path in paths.found}
    emptied = {moved(path) for path in paths.emptied}
    folders = {parent for path in found for parent in path.parents}
    folders |= {folder for path in emptied for folder in (path, *path.parents)}
    folders |= {Path("/", name) for name in ("dev", "etc", "proc", "run", "sys", "tmp", "mlesmith")}
    for folder in sorted(folders - found):
        entry = tarfile.TarInfo(str(folder).lstrip("/") or ".")
        entry.type = tarfile.DIRTYPE
        entry.mode = 0o1777 if folder == Path("/tmp") else 0o755
        tar.addfile(entry)


def _entry(path: Path, entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Root's, readable for everybody, writable for nobody, without the bits that change users.

    A link within, into or out of what moves leads to its target's place in the image.
    """
    if entry.issym():
        target = Path(os.path.normpath(path.parent / path.readlink()))
        target = target.parent.resolve() / target.name
        if moved(path) != path or moved(target) != target:
            entry.linkname = str(moved(target))
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mode = 0o555 if entry.mode & 0o100 else 0o444
    return entry
