"""The folder of a job: what it was made for, what was resolved, and who may work in it."""

from __future__ import annotations

import fcntl
import importlib.metadata
import json
import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from harness.agents.prompting import prompts_hash
from harness.errors import InputError
from harness.models.base import Settings
from harness.records import JobPaths, read_record, strict_json, write_atomically
from harness.sandboxes.base import SandboxProvider

MIN_FREE_BYTES = 256 << 20
_PACKAGES = (
    "mle-smith",
    "numpy",
    "pandas",
    "scikit-learn",
    "scipy",
    "openai",
    "google-genai",
    "httpx2",
    "tenacity",
)


def pin_config(config: BaseModel, paths: JobPaths, free_to_change: frozenset[str]) -> None:
    """Write config.json, or refuse when the folder holds a job of another configuration.

    Args:
        config: what is asked now.
        paths: the job's folder.
        free_to_change: keys that may differ, since they say what to do and not what a trial is;
            ``sandbox.gpus`` is the key ``gpus`` of the table ``sandbox``.
    """
    asked = config.model_dump(mode="json")
    try:
        text = strict_json(asked) + "\n"
    except ValueError as error:
        raise InputError(
            "a number of the job's configuration is not finite; leave a limit out for none"
        ) from error
    if paths.config.is_file():
        try:
            before = read_record(type(config), paths.config)
        except InputError as error:
            raise InputError(
                f"{error}; if another version of mlesmith began this job, choose another --out"
            ) from error
        then = dict(_keys(before.model_dump(mode="json")))
        now = dict(_keys(asked))
        changed = [
            key for key in {**then, **now} if key not in free_to_change and then.get(key) != now.get(key)
        ]
        if changed:
            shown = "; ".join(f"{key} was {then.get(key)!r}, now {now.get(key)!r}" for key in changed)
            raise InputError(
                f"{paths.config}: this folder holds a job with another configuration ({shown}); "
                "choose another --out, or ask for the same"
            )
    elif paths.trials.exists():
        raise InputError(f"{paths.root}: has trials but no config.json; choose another --out")
    write_atomically(paths.config, text)


def _keys(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """All keys of a document with their values; ``budget.steps`` is a key of a table inside."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def pin_lock(
    hashes: dict[str, str],
    settings: Mapping[str, Settings],
    prompts: str,
    provider: SandboxProvider,
    paths: JobPaths,
) -> None:
    """Write lock.json, or refuse when something of it has changed since the job began.

    Args:
        hashes: of the tasks, ``<set>/<task>``.
        settings: of the models' calls, by board name.
        prompts: version of the agent's prompts.
        provider: the sandbox.
        paths: the job's folder.

    Raises:
        InputError: a task, a model's settings, the prompts or the sandbox are others than in the folder.
    """
    asked = {name: made.model_dump(mode="json", exclude_none=True) for name, made in settings.items()}
    lock: dict[str, Any] = {"schema_version": 1, "tasks": {}}
    made_of = provider.describe()
    if paths.lock.is_file():
        lock = _read_lock(paths.lock)
        changed = sorted(name for name, digest in hashes.items() if lock["tasks"].get(name, digest) != digest)
        if changed:
            raise InputError(
                f"{paths.lock}: task {changed[0]} has changed since this job began; choose another --out"
            )
        for name, made in asked.items():
            before = lock.get("models", {}).get(name, made)
            changed = [key for key in {**before, **made} if before.get(key) != made.get(key)]
            if changed:
                shown = "; ".join(
                    f"{key} was {_said(before.get(key))}, now {_said(made.get(key))}" for key in changed
                )
                raise InputError(
                    f"{paths.lock}: {name} has other settings since this job began ({shown}); give it a "
                    "label, or choose another --out"
                )
        if lock["prompts"] != prompts_hash(prompts):
            raise InputError(f"{paths.lock}: the agent's prompts have changed; choose another --out")
        if lock["sandbox"] != provider.name:
            raise InputError(
                f"{paths.lock}: this job began in the sandbox {lock['sandbox']} and would go on in "
                f"{provider.name}; make that one available again, or choose another --out"
            )
        image = lock.get("provider", {}).get("image_id")
        if image != made_of.get("image_id"):
            raise InputError(
                f"{paths.lock}: this job began with the image {image} and would go on with "
                f"{made_of.get('image_id')}; bring that image back, or choose another --out"
            )
    lock["tasks"] = {**lock["tasks"], **hashes}
    lock["models"] = {**lock.get("models", {}), **asked}
    lock.setdefault("prompts", prompts_hash(prompts))
    lock.setdefault("prompts_version", prompts)
    lock.setdefault("sandbox", provider.name)
    lock.setdefault("provider", made_of)
    lock.setdefault("python", platform.python_version())
    lock.setdefault("platform", platform.platform())
    lock.setdefault("git_commit", _git_commit())
    lock.setdefault("packages", {name: _version(name) for name in _PACKAGES})
    write_atomically(paths.lock, strict_json(lock) + "\n")


def _read_lock(path: Path) -> dict[str, Any]:
    try:
        lock: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version, _ = lock["schema_version"], [lock[key] for key in ("tasks", "prompts", "sandbox")]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{path}: not the lock of a job ({error}); put it back as it was, or choose another --out"
        ) from error
    if version != 1:
        raise InputError(f"{path}: schema_version {version!r} is unknown; this version reads 1")
    return lock


def _said(value: Any) -> str:
    return "not set" if value is None else str(value)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git_commit() -> str | None:
    """The commit of this project when it runs from a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


@contextmanager
def exclusive(out: Path) -> Iterator[None]:
    """Keep two runs from working in one folder; the system drops the lock when a process dies."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".running").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                f"{out}: another run works in this folder; wait for it or choose another --out"
            ) from error
        yield


def require_space(out: Path) -> None:
    """Refuse to start work that would die half-way for want of disk space."""
    folder = next(path for path in (out, *out.absolute().parents) if path.exists())
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        raise InputError(
            f"{out}: only {free >> 20} MiB free on its disk; at least {MIN_FREE_BYTES >> 20} MiB are needed"
        )
