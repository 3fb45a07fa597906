"""What the verifier has said of a task, remembered or asked for now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from generator.defects.base import Gate
from generator.pipeline.generation import MARKERS
from generator.selection.facts import Facts
from generator.verifier.memory import CACHE_NAME, identity, recall
from generator.verifier.thresholds.config import DEFAULTS, Thresholds
from generator.verifier.verification import Verdict, Verification
from generator.verifier.verify import Plan
from harness.sandboxes.choose import NAMES

GENERATED = Path(MARKERS, "verdicts")
"""Where `mlesmith generate` keeps verdicts, in its folder of tasks."""

UNKNOWN = "no verdict is remembered; run `mlesmith task verify`, or add --verify"
STALE = (
    "the remembered verdict is of other bytes, another version of the verifier or other options (--quick, "
    "--last, --thresholds, --reviewer); verify it again, or add --verify"
)


def remembered(
    root: Path, *, cache: Path | None = None, limits: Thresholds = DEFAULTS
) -> tuple[Verification | None, str]:
    """The verdict of the whole verification in any sandbox, with or without the agent's trial; else why not.

    Looks where ``mlesmith task verify`` and ``mlesmith generate`` keep verdicts: in the package, in
    ``.generate/verdicts`` beside it (for a rejected one, beside its folder), and in ``cache``.
    """
    folders = [cache] if cache else []
    folders += [folder / GENERATED for folder in (root.parent, root.parent.parent)]
    kept = (root / CACHE_NAME).is_file()
    folders = [folder for folder in folders if any(folder.glob(f"{root.name}-*.json"))]
    if not kept and not folders:
        return None, UNKNOWN
    for known_by in _identities(root, limits):
        places = [folder / f"{root.name}-{known_by[:16]}.json" for folder in folders]
        for place in [root / CACHE_NAME, *places]:
            verification = recall(place, known_by)
            if verification is not None:
                return verification, ""
    return None, STALE


def judged(facts: Facts, verification: Verification | None, missing: str = UNKNOWN) -> Facts:
    """The facts with the ladder of a verification, barred unless it is verified with baselines."""
    if verification is None:
        return facts.without(missing)
    if verification.verdict is Verdict.ERROR:
        return facts.without(f"verification was interrupted: {verification.error}; verify it again")
    if verification.verdict is Verdict.REJECTED:
        codes = dict.fromkeys(found.code for found in verification.findings if found.severity == "error")
        return facts.without(f"rejected by the verifier: {', '.join(codes)}")
    if Gate.EMPIRICAL not in verification.gates:
        return facts.without("verified without baselines; verify it without --quick")
    return replace(facts, ladder=tuple(verification.exhibits.get("ladder", ())))


def _identities(root: Path, limits: Thresholds) -> Iterator[str]:
    """Of all ways to verify that are whole; the usual sandbox comes first."""
    sandboxes: Sequence[str] = [name for name in NAMES if name != "auto"]
    for sandbox in sandboxes:
        for execution in (True, False):
            yield identity(root, Plan(execution=execution, limits=limits).identity(sandbox))
