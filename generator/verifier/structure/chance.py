"""Random choices that no seed decides."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from generator.verifier.structure.syntax import Source, excerpt, is_none, keyword, last_name

#: Constructors of generators: the seed is their first argument.
_GENERATORS = {
    "numpy.random.default_rng": "seed",
    "numpy.random.RandomState": "seed",
    "numpy.random.SeedSequence": "entropy",
    "numpy.random.PCG64": "seed",
    "random.Random": "x",
}
#: Functions on the state that is shared by all of a module.
_SHARED = re.compile(
    r"(numpy\.random|random)\.(?!seed|default_rng|RandomState|SeedSequence|Random|get_state)[a-z_]+"
)
_SEEDING = re.compile(r"(numpy\.random|random|torch)\.(seed|manual_seed|set_state|setstate)")
#: What takes ``random_state``, and draws only when an argument says so.
_SPLITTERS = re.compile(
    r"train_test_split|ShuffleSplit|StratifiedShuffleSplit|GroupShuffleSplit|resample|make_\w+|RandomUnderSampler"
    r"|RandomOverSampler|SMOTE"
)
_SHUFFLED_FOLDS = re.compile(r"KFold|StratifiedKFold|StratifiedGroupKFold")


def unseeded(source: Source) -> Iterator[tuple[int, str]]:
    """Calls that draw at random without a seed, with their lines."""
    seeded = {
        match[1]
        for call in source.calls()
        if (match := _SEEDING.fullmatch(source.full_name(call.func)))
        and call.args
        and not is_none(call.args[0])
    }
    for call in source.calls():
        name = source.full_name(call.func)
        if any(each.arg is None for each in call.keywords):
            continue
        if name in _GENERATORS:
            if is_none(call.args[0] if call.args else keyword(call, _GENERATORS[name])):
                yield call.lineno, excerpt(call)
        elif source.is_imported(call.func) and (match := _SHARED.fullmatch(name)):
            if match[1] not in seeded:
                yield call.lineno, excerpt(call)
        elif "numpy.random" not in seeded and _needs_state(source, call, name):
            yield call.lineno, excerpt(call)


def _needs_state(source: Source, call: ast.Call, name: str) -> bool:
    """Whether a call of pandas or scikit-learn draws with numpy's state, for want of ``random_state``."""
    if not is_none(keyword(call, "random_state")):
        return False
    last = last_name(call.func)
    if source.is_imported(call.func) and name.startswith(("sklearn.", "imblearn.")):
        if last == "train_test_split":
            return not _is(keyword(call, "shuffle"), False)
        if last == "shuffle" or _SPLITTERS.fullmatch(last):
            return True
        return bool(_SHUFFLED_FOLDS.fullmatch(last)) and _is(keyword(call, "shuffle"), True)
    if last != "sample" or not isinstance(call.func, ast.Attribute) or source.is_imported(call.func):
        return False
    # A sample of a generator takes what to draw from; one of a frame takes n or frac.
    return not keyword(call, "seed") and (
        bool(keyword(call, "frac") or keyword(call, "n"))
        or (not call.args and not call.keywords)
        or (len(call.args) == 1 and isinstance(call.args[0], ast.Constant))
    )


def _is(node: ast.expr | None, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value
