"""Code in prepare.py that reads only the first part of the raw data."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.structure.syntax import Source, excerpt, keyword, last_name, listed

#: Calls that read a table, lines, or list files.
_READS = re.compile(
    r"read_(csv|table|json|parquet|excel|feather|pickle|fwf|xml|html|sql|orc|stata|sas|spss|tsv|jsonl|lines?)"
    r"|readlines|glob|rglob|iglob|iterdir|listdir|scandir|splitlines|loadtxt|genfromtxt|reader|DictReader"
)
#: Wraps and chained calls after which the rows are still all there, in their order.
_KEEPS = re.compile(
    r"sorted|list|tuple|array|asarray|DataFrame|dropna|reset_index|drop|rename|copy|assign|astype|fillna"
    r"|drop_duplicates|sort_values|sort_index|set_index|concat|merge"
)
#: At most so many rows are a look at the header.
_HEADER_ROWS = 1
#: Notes below a table take at most so many lines.
_FOOTER_ROWS = 20
_FIX = "use all raw rows, or say in description.txt which part is used and why"


def check_truncation(source: Source) -> Iterator[Finding]:
    """Places where rows after the first ones are left unread, printing and splitting apart."""
    places = sorted(set(_limited_reads(source)) | set(_first_parts(source)) | set(_stopped_loops(source)))
    if places:
        yield finding("truncates_raw", f"{source.name}: {listed(places)}", _FIX)


def _limited_reads(source: Source) -> Iterator[tuple[int, str]]:
    for call in source.calls():
        if not _READS.fullmatch(last_name(call.func)):
            continue
        rows, footer = keyword(call, "nrows"), keyword(call, "skipfooter")
        looks = isinstance(source.parent(call), ast.Attribute) and _attribute(source, call) in (
            "columns", "dtypes", "shape", "head", "keys",
        )  # fmt: skip
        limited = rows is not None and not looks and _counts(rows, _HEADER_ROWS)
        if limited or (footer is not None and _counts(footer, _FOOTER_ROWS)):
            yield call.lineno, excerpt(call)


def _attribute(source: Source, node: ast.AST) -> str:
    above = source.parent(node)
    return above.attr if isinstance(above, ast.Attribute) else ""


def _counts(node: ast.expr, most: int) -> bool:
    """Whether a number of rows is a real limit; a variable may be one."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and node.value > most
    return True


def _first_parts(source: Source) -> Iterator[tuple[int, str]]:
    """``x = read(...).head(9)``, and ``x = x[:9]`` of something read, where the rest is used nowhere."""
    for scope in _scopes(source):
        whole: set[str] = set()
        for statement in _statements(scope):
            if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
                continue
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            cut = _cut(statement.value, whole)
            if cut is not None and (not cut or cut in names or not _used_elsewhere(scope, cut, statement)):
                yield statement.lineno, excerpt(statement)
            whole = (whole | names) if _is_whole(statement.value, whole) else (whole - names)
        for loop in (node for node in ast.walk(scope) if isinstance(node, ast.For)):
            if _cut(loop.iter, set()) == "":
                yield loop.lineno, excerpt(loop.iter)


def _scopes(source: Source) -> Iterator[ast.AST]:
    yield source.tree
    yield from (node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef))


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a scope in their order, those of functions within left out."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, ast.stmt):
            yield node
            yield from _statements(node)
        elif isinstance(node, (ast.ExceptHandler, ast.match_case)):
            yield from _statements(node)


def _is_whole(node: ast.expr, whole: set[str]) -> bool:
    """Whether an expression gives all that was read, in its order."""
    if isinstance(node, ast.Name):
        return node.id in whole
    if isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].ifs:
        return _is_whole(node.generators[0].iter, whole)
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        if _READS.fullmatch(name):
            return True
        if not _KEEPS.fullmatch(name):
            return False
        inner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return any(_is_whole(each, whole) for each in [*inner, *node.args])
    return False


def _cut(node: ast.expr, whole: set[str]) -> str | None:
    """The name whose first part an expression takes, ``""`` for one that was read just there, or ``None``.

    Chained calls after the cut do not matter.
    """
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("head", "limit") and (node.args or node.keywords):
                return _name_of(node.func.value, whole) if _counts_all(node) else None
            if last_name(node.func) == "islice" and node.args:
                return _name_of(node.args[0], whole)
            node = node.func.value
        elif (
            isinstance(node, ast.Call) and last_name(node.func) in ("sorted", "list", "islice") and node.args
        ):
            if last_name(node.func) == "islice":
                return _name_of(node.args[0], whole)
            node = node.args[0]
        elif isinstance(node, ast.Subscript):
            if _is_first_part(node.slice):
                held = node.value
                if isinstance(held, ast.Attribute) and held.attr in ("iloc", "loc"):
                    held = held.value
                return _name_of(held, whole)
            return None
        else:
            return None


def _counts_all(call: ast.Call) -> bool:
    rows = call.args[0] if call.args else call.keywords[0].value
    return _counts(rows, _HEADER_ROWS)


def _is_first_part(index: ast.expr) -> bool:
    """``[:n]`` with n above zero; ``[:-1]`` drops a known footer and ``[:, :n]`` columns."""
    if isinstance(index, ast.Tuple) and index.elts:
        index = index.elts[0]
    if not isinstance(index, ast.Slice) or index.upper is None or index.step is not None:
        return False
    if index.lower is not None and not (isinstance(index.lower, ast.Constant) and index.lower.value == 0):
        return False
    return not isinstance(index.upper, ast.UnaryOp) and _counts(index.upper, _HEADER_ROWS)


def _name_of(node: ast.expr, whole: set[str]) -> str | None:
    if isinstance(node, ast.Name):
        return node.id if node.id in whole else None
    return "" if _is_whole(node, whole) else None


def _used_elsewhere(scope: ast.AST, name: str, cut: ast.stmt) -> bool:
    """Whether more is made of a name than its first part: its rest may be the test rows."""
    within = set(ast.walk(cut))
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        and node not in within
        for node in ast.walk(scope)
    )


def _stopped_loops(source: Source) -> Iterator[tuple[int, str]]:
    """``for i, line in enumerate(file): if i == 100: break``."""
    for loop in source.walk():
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
            continue
        if last_name(loop.iter.func) != "enumerate" or not isinstance(loop.target, ast.Tuple):
            continue
        counter = last_name(loop.target.elts[0])
        for test in loop.body:
            if (
                isinstance(test, ast.If)
                and isinstance(test.test, ast.Compare)
                and last_name(test.test.left) == counter
                and isinstance(test.test.ops[0], (ast.Eq, ast.Gt, ast.GtE))
                and any(isinstance(step, ast.Break) for step in test.body)
            ):
                yield test.lineno, f"if {excerpt(test.test)}: break"
