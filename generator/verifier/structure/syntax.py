"""The syntax tree of a Python file: full names of what is called, and the node above each node."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


class Source:
    """A parsed Python file.

    Attributes:
        name: the file's name.
        tree: its syntax tree.
    """

    def __init__(self, path: Path) -> None:
        """Parse a file.

        Raises:
            SyntaxError: it is no valid Python.
            ValueError: it holds null bytes, or is nested too deeply.
        """
        self.name = path.name
        try:
            self.tree = ast.parse(path.read_bytes(), filename=path.name)
        except (RecursionError, MemoryError) as error:
            raise ValueError("nested too deeply") from error
        self._parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self._imported = dict(self._imports())

    def walk(self) -> Iterator[ast.AST]:
        """All nodes in the order of their lines."""
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, (ast.stmt, ast.expr))]
        return iter(sorted(nodes, key=lambda node: (node.lineno, node.col_offset)))

    def calls(self) -> Iterator[ast.Call]:
        """All calls in the order of their lines."""
        return (node for node in self.walk() if isinstance(node, ast.Call))

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds this one."""
        return self._parents.get(node)

    def modules(self) -> Iterator[tuple[str, int]]:
        """Full names of imported modules, and of what is imported from them, with the line."""
        for node in self.walk():
            if isinstance(node, ast.Import):
                yield from ((alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)

    def full_name(self, node: ast.AST) -> str:
        """``numpy.random.rand`` for ``np.random.rand``; empty where it does not start at a name.

        A name that was not imported stands for itself.
        """
        if isinstance(node, ast.Name):
            return self._imported.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            start = self.full_name(node.value)
            return f"{start}.{node.attr}" if start else ""
        return ""

    def is_imported(self, node: ast.AST) -> bool:
        """Whether a dotted name starts at an import."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._imported

    def is_docstring(self, node: ast.AST) -> bool:
        """Whether a string stands alone as a statement."""
        return isinstance(self.parent(node), ast.Expr)

    def _imports(self) -> Iterator[tuple[str, str]]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield (
                        alias.asname or alias.name.partition(".")[0],
                        (alias.name if alias.asname else alias.name.partition(".")[0]),
                    )
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name: ``read_csv`` of ``pd.read_csv``."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a named argument."""
    return next((each.value for each in call.keywords if each.arg == name), None)


def is_none(node: ast.AST | None) -> bool:
    """Whether a value is left out or is ``None``."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def listed(places: list[tuple[int, str]], most: int = 3) -> str:
    """``line 4: pd.read_csv(...), line 9: ... and 2 more``."""
    said = [f"line {line}: {what}" for line, what in places[:most]]
    more = f" and {len(places) - most} more" if len(places) > most else ""
    return "; ".join(said) + more


def excerpt(node: ast.AST, most: int = 70) -> str:
    """The code of a node in one line, cut."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= most else text[: most - 3] + "..."
