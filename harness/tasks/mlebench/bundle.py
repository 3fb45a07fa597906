"""Several Python modules in one file.

A package's ``prepare.py`` and ``metric.py`` are alone in their sandboxes, while those of mle-bench import
modules beside them. A bundle carries the sources unmodified; what is installed comes first.
"""

from __future__ import annotations

from collections.abc import Mapping

_LOADER = '''\
class _Bundled(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the modules of SOURCES; a name that others begin with is a package."""

    def find_spec(self, name, path=None, target=None):
        package = any(other.startswith(name + ".") for other in SOURCES)
        if name not in SOURCES and not package:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=package)

    def exec_module(self, module):
        code = compile(SOURCES.get(module.__name__, ""), module.__name__, "exec")
        exec(code, module.__dict__)


sys.meta_path.append(_Bundled())
'''


def bundle(title: str, sources: Mapping[str, str], ending: str) -> str:
    """The text of the file.

    Args:
        title: its docstring.
        sources: texts of modules by full name.
        ending: what follows once the modules can be imported by :func:`importlib.import_module`.
    """
    entries = "".join(f"    {name!r}: {text!r},\n" for name, text in sorted(sources.items()))
    return (
        f'"""{title}"""\n\nimport importlib\nimport importlib.abc\nimport importlib.machinery\nimport sys\n\n'
        f"SOURCES = {{\n{entries}}}\n\n\n{_LOADER}\n\n{ending}"
    )
