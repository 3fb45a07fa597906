"""Whether a metric's text uses hashes, or the order of a set, which Python makes of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_MAKERS = frozenset({"set", "frozenset", "hash"})
#: What takes a set and gives the same whatever its order.
_ORDERLESS = frozenset({"len", "sorted", "min", "max", "any", "all", "bool", "set", "frozenset"})


def looks_at_hashes(text: str) -> bool:
    """Whether the order of a set may reach the score. Checks of a submission and messages do not count.

    A process with other hashes costs a second to start, so only a metric that may need one gets it.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    return any(_walk(tree))


def _walk(node: ast.AST) -> Iterator[bool]:
    if isinstance(node, ast.FunctionDef) and node.name == "validate_submission":
        return
    if isinstance(node, ast.Raise | ast.Compare | ast.Assert):
        return
    if isinstance(node, ast.If | ast.IfExp | ast.While) and _is_set(node.test):
        node.test = ast.Constant(value=True)
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", "")
        if name in _ORDERLESS - _MAKERS and all(_is_set(part) for part in node.args):
            return
    if _is_set(node):
        yield True
        return
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)


def _is_set(node: ast.AST) -> bool:
    """A set or a hash is made here, or a set of two."""
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    if isinstance(node, ast.BinOp):
        return _is_set(node.left) or _is_set(node.right)
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in _MAKERS
