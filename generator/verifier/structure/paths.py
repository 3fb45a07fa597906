"""Absolute paths in the code of a task: they lead nowhere on another machine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.structure.syntax import Source, excerpt, last_name, listed

#: Folders that stand at the root of somebody's machine, notebook server or container.
_ROOTS = (
    "home|Users|root|mnt|data|datasets?|kaggle|content|opt|var|srv|media|workspaces?|scratch|Volumes|usr|app"
    "|work|projects?|storage|nfs|gpfs|lustre|raid|share|export|private|mlesmith|input|output|tmp|raw|public"
)
_ROOTED = re.compile(rf"/(?:{_ROOTS})(?:/[^\0\n*?<>|]*)?")
_POSIX = re.compile(r"/[\w.-]+(?:/[\w. -]+)+/?")
_HOME = re.compile(r"~[\w-]*/[^\0\n]+")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]+[\w.][^\0\n*?<>|\"]*|(?:\\\\){1,2}[\w.-]{2,}\\{1,2}[\w.$-]{2,}.*")
_HARMLESS = re.compile(r"/(?:dev|proc|sys)(?:/.*)?|/tmp/?")
_PATH_CALLS = re.compile(
    r"Path|PurePath|PosixPath|WindowsPath|open|join|chdir|read_\w+|to_\w+|load\w*|save\w*|copy\w*|move|glob|rglob"
    r"|iglob|listdir|scandir|walk|exists|isfile|isdir|makedirs|mkdir|remove|rmtree|ZipFile|imread|expanduser|append|insert"
)
#: Calls whose strings are patterns, texts or addresses.
_TEXT_CALLS = re.compile(
    r"compile|match|search|fullmatch|sub|split|rsplit|findall|replace|strip|lstrip|rstrip|startswith|endswith"
    r"|removeprefix|removesuffix|contains|extract|find|findtext|xpath|select|print|info|warning|error|debug|format"
)


def check_paths(source: Source) -> Iterator[Finding]:
    """Strings that are absolute paths and are used as such; not patterns, separators or addresses."""
    places = [
        (node.lineno, repr(node.value))
        for node in source.walk()
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and not source.is_docstring(node)
        and _is_path(source, node, node.value)
    ]
    places += [
        (call.lineno, excerpt(call))
        for call in source.calls()
        if source.full_name(call.func) == "pathlib.Path.home" or last_name(call.func) == "expanduser"
    ]
    if places:
        yield finding(
            "absolute_path",
            f"{source.name}: {listed(sorted(set(places)))}",
            "build every path from the arguments raw, public and private",
        )


def _is_path(source: Source, node: ast.Constant, text: str) -> bool:
    if _HARMLESS.fullmatch(text):
        return False
    if _WINDOWS.fullmatch(text):
        return _used_by(source, node) is not False
    if _HOME.fullmatch(text) or _ROOTED.fullmatch(text):
        # A bare "/data" may be a route or a key; as a path it stands in a call or beside a slash.
        return _used_by(source, node) is not False if text.count("/") > 1 else bool(_used_by(source, node))
    return bool(_POSIX.fullmatch(text)) and _used_by(source, node) is True


def _used_by(source: Source, node: ast.AST) -> bool | None:
    """True in a call that takes a path or beside a slash, False where it is another text, else ``None``."""
    above = source.parent(node)
    while isinstance(above, (ast.JoinedStr, ast.FormattedValue, ast.IfExp, ast.keyword, ast.Starred)):
        if isinstance(above, ast.JoinedStr) and above.values[0] is not node:
            return False
        node, above = above, source.parent(above)
    if isinstance(above, ast.BinOp):
        return True if isinstance(above.op, ast.Div) else _used_by(source, above)
    if isinstance(above, ast.Compare):
        return False
    if isinstance(above, ast.Call):
        name = last_name(above.func)
        if _TEXT_CALLS.fullmatch(name):
            return False
        return True if _PATH_CALLS.fullmatch(name) else None
    return None
