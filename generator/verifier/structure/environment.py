"""Code of a task that asks the machine: the clock, versions, variables, the host, processes, file times."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.structure.chance import unseeded
from generator.verifier.structure.syntax import Source, excerpt, last_name, listed

_CLOCK = re.compile(
    r"time\.(time|time_ns|localtime|gmtime|ctime|strftime)|datetime\.(datetime\.)?(now|utcnow|today)"
    r"|datetime\.date\.today|pandas\.Timestamp\.(now|today|utcnow)"
)
#: Functions of ``time`` that ask the clock only when they are not told a time: how many arguments that takes.
_TOLD = {"time.localtime": 1, "time.gmtime": 1, "time.ctime": 1, "time.strftime": 2}
_NOW = re.compile(r"pandas\.to_datetime|numpy\.datetime64|pandas\.Timestamp|datetime64")
_MACHINE = re.compile(
    r"os\.(getpid|getppid|getuid|geteuid|getlogin|uname|urandom|getloadavg|cpu_count|sched_getaffinity)"
    r"|os\.path\.get[mac]time|os\.stat|platform\.\w+|socket\.(gethostname|getfqdn)|getpass\.getuser"
    r"|uuid\.uuid[14]|uuid\.getnode|secrets\.\w+|multiprocessing\.cpu_count|psutil\.\w+|random\.SystemRandom"
    r"|importlib\.metadata\.version|sys\.getsizeof|tempfile\.gettempdir|os\.getcwd|pathlib\.Path\.cwd|id|hash"
)
_FILE_TIMES = ("st_mtime", "st_ctime", "st_atime", "st_ino", "st_mtime_ns", "st_ctime_ns")
_VERSIONS = ("sys.version", "sys.version_info", "sys.platform", "os.name", "sys.hexversion", "sys.maxsize")
_READS_ENVIRONMENT = ("os.environ", "os.getenv", "os.environ.get")
#: Arguments that say how many processes work, which must not change what they make.
_WORKERS = re.compile(
    r"n_jobs|num_workers|n_workers|max_workers|processes|num_threads|nthreads|workers|n_cpus?|num_(cpus?|processes|procs)"
)


def check_environment(source: Source) -> Iterator[Finding]:
    """What is asked of the machine, and random choices without a seed, each with its line."""
    places = [
        *unseeded(source),
        *((call.lineno, excerpt(call)) for call in source.calls() if _asks(source, call)),
        *_attributes(source),
    ]
    if places:
        yield finding(
            "environment_dependent",
            f"{source.name}: {listed(sorted(set(places)))}",
            "seed every random choice, and let nothing follow the clock, a version or the machine",
        )


def _asks(source: Source, call: ast.Call) -> bool:
    name = source.full_name(call.func)
    builtin = name in ("id", "hash") and isinstance(call.func, ast.Name)
    if not builtin and not source.is_imported(call.func):
        return False
    if _CLOCK.fullmatch(name):
        asks = len(call.args) < _TOLD.get(name, 99)
        return asks and not _is_timing(source, call) and not _is_shown(source, call)
    if _NOW.fullmatch(name):
        return any(isinstance(arg, ast.Constant) and arg.value in ("now", "today") for arg in call.args)
    if builtin and name == "id":
        return False
    return (
        bool(_MACHINE.fullmatch(name)) and not _is_for_workers(source, call) and not _is_shown(source, call)
    )


def _attributes(source: Source) -> Iterator[tuple[int, str]]:
    for node in source.walk():
        if isinstance(node, ast.Attribute):
            name = source.full_name(node)
            asks = (
                (node.attr == "__version__" and source.is_imported(node))
                or (name in _VERSIONS and source.is_imported(node))
                or node.attr in _FILE_TIMES
            )
            if asks and not _is_shown(source, node):
                yield node.lineno, excerpt(node)
            elif name in _READS_ENVIRONMENT and source.is_imported(node) and _reads(source, node):
                yield node.lineno, excerpt(source.parent(node) or node)


def _reads(source: Source, node: ast.AST) -> bool:
    """Whether a variable is read: setting one, as for a library's threads, asks nothing."""
    above = source.parent(node)
    if isinstance(above, ast.Subscript):
        return isinstance(above.ctx, ast.Load)
    if isinstance(above, ast.Call):
        return above.func is node
    return isinstance(above, ast.Compare)


def _is_timing(source: Source, call: ast.Call) -> bool:
    """Whether a time serves to tell how long something took: it, or its name, is only ever subtracted."""
    above = source.parent(call)
    if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Sub):
        return True
    if not isinstance(above, ast.Assign) or not isinstance(above.targets[0], ast.Name):
        return False
    name = above.targets[0].id
    uses = [
        node
        for node in source.walk()
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    return all(
        isinstance(over := source.parent(use), ast.BinOp) and isinstance(over.op, ast.Sub) for use in uses
    )


def _is_shown(source: Source, node: ast.AST) -> bool:
    """Whether a value is only printed or logged."""
    above = source.parent(node)
    while above is not None and not isinstance(above, ast.stmt):
        if isinstance(above, ast.Call) and (
            last_name(above.func) in ("print", "info", "debug", "warning", "warn", "error", "log")
        ):
            return True
        above = source.parent(above)
    return False


def _is_for_workers(source: Source, node: ast.AST) -> bool:
    """Whether a count of processors decides how many processes work."""
    above = source.parent(node)
    while above is not None and not isinstance(above, ast.stmt):
        if isinstance(above, ast.keyword) and above.arg and _WORKERS.fullmatch(above.arg):
            return True
        if isinstance(above, ast.Call) and last_name(above.func).endswith(("Pool", "Executor", "Parallel")):
            return True
        above = source.parent(above)
    return (
        isinstance(above, ast.Assign)
        and isinstance(above.targets[0], ast.Name)
        and bool(_WORKERS.fullmatch(above.targets[0].id.lower()))
    )
