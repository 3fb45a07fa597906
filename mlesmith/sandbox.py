"""``mlesmith sandbox``: what can run here, images for docker, and what killed jobs left behind."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlesmith.console import EXIT_FELL_SHORT, Json, emit, fail, note, say, show_table

if TYPE_CHECKING:
    from harness.sandboxes.base import SandboxProvider
    from harness.sandboxes.containers.images import Image

app = typer.Typer(
    help="Check sandboxes, make images for docker, clean up after killed jobs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def check(json: Json = False) -> None:
    """Show which sandboxes can run here, what they hold, and which GPUs there are.

    Example: mlesmith sandbox check

    Exit code 1 when only `process` can run, which isolates nothing.
    """
    from harness.sandboxes.bubblewrap import Bubblewrap
    from harness.sandboxes.docker import Docker
    from harness.sandboxes.gpus.discovery import discover
    from harness.sandboxes.process import Process

    docker = Docker()
    gpus = discover()
    sandboxes = [_checked(provider) for provider in (Bubblewrap(), docker, Process())]
    available = {found["name"] for found in sandboxes if found["available"]}
    usable = _gpus_usable(docker, [gpu.uuid for gpu in gpus.gpus]) if "docker" in available else None
    if json:
        emit(
            {
                "schema_version": 1,
                "sandboxes": sandboxes,
                "gpus": [asdict(gpu) for gpu in gpus.gpus],
                "gpus_reason": gpus.reason,
                "docker_gpus": usable,
            }
        )
    else:
        _show(sandboxes)
        _say(f"GPUs: {gpus}")
        if usable is not None:
            _say(f"GPUs in docker: {usable}")
    if not available - {"process"}:
        raise typer.Exit(EXIT_FELL_SHORT)


@app.command()
def build(
    gpu: Annotated[bool, typer.Option("--gpu", help="An image with CUDA and PyTorch.")] = False,
    cpu: Annotated[bool, typer.Option("--cpu", help="An image without them.")] = False,
    host: Annotated[
        bool, typer.Option("--host", help="From this machine's Python; needs no registry.")
    ] = False,
    rootfs: Annotated[
        Path | None,
        typer.Option(help="Import this tar archive of a root filesystem, as a base for --cpu --base."),
    ] = None,
    base: Annotated[
        str | None, typer.Option(help="What --gpu or --cpu starts from: an image of Debian or Ubuntu.")
    ] = None,
    tag: Annotated[str | None, typer.Option(metavar="NAME:TAG", help="The name of the image.")] = None,
    json: Json = False,
) -> None:
    """Make an image for docker sandboxes: for GPUs where there are any, or else for processors.

    Example: mlesmith sandbox build --cpu

    Without a registry for the base: mlesmith sandbox build --host
    """
    from harness.sandboxes.containers import images
    from harness.sandboxes.containers.engine import find_engine
    from harness.sandboxes.gpus.discovery import discover

    if sum((gpu, cpu, host, rootfs is not None)) > 1:
        fail("choose one of --gpu, --cpu, --host and --rootfs")
    if base and (host or rootfs):
        fail("--base goes with --gpu or --cpu")
    if tag is not None and ":" not in tag.rpartition("/")[2]:
        fail(f"--tag {tag}: write NAME:TAG")
    engine = find_engine()
    image: Image
    if host:
        image = images.import_host(engine, tag or images.HOST, progress=note)
    elif rootfs is not None:
        image = images.import_rootfs(engine, rootfs, tag or images.BASE)
    else:
        variant = "gpu" if gpu or (not cpu and discover().gpus) else "cpu"
        image = images.build(engine, variant, base=base, name=tag, progress=note)
    if json:
        emit({"schema_version": 1, "image": image.name, "id": image.id})
    else:
        _say(f"{image.name} ({image.id})")


@app.command()
def sweep(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
    unknown: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Also containers whose harness cannot be seen from here.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Remove containers, control groups and temporary folders of killed jobs; never what a running job uses.

    Example: mlesmith sandbox sweep --dry-run

    Exit code 1 when something could not be removed.
    """
    from harness.errors import SandboxUnavailable
    from harness.sandboxes.containers.engine import find_engine
    from harness.sandboxes.containers.sweep import find_orphans, remove_orphans
    from harness.sandboxes.kernel import cgroups, leftovers

    orphans, removed = [], []
    engine_problem = None
    try:
        engine = find_engine()
        orphans = find_orphans(engine, all_unknown=unknown)
        removed = [] if dry_run else remove_orphans(engine, orphans)
    except SandboxUnavailable as error:
        engine_problem = str(error)
    groups = cgroups.find() if dry_run else cgroups.sweep()
    folders = [str(folder) for folder in leftovers.find()] if dry_run else leftovers.sweep()
    if json:
        emit(
            {
                "schema_version": 1,
                "dry_run": dry_run,
                "containers": [{**asdict(orphan), "removed": orphan in removed} for orphan in orphans],
                "control_groups": groups,
                "folders": folders,
                "engine_problem": engine_problem,
            }
        )
    else:
        for orphan in orphans:
            what = "would remove" if dry_run else "removed" if orphan in removed else "could not remove"
            labels = ", ".join(f"{name} {value}" for name, value in sorted(orphan.labels.items()))
            name = f"container {orphan.container[:12]} ({labels or 'no labels'})"
            _say(f"{what} {name}: {orphan.why}")
        for kind, names in (("control group", groups), ("folder", folders)):
            for name in names:
                _say(f"{'would remove' if dry_run else 'removed'} {kind} {name}")
        if engine_problem:
            note(f"containers were not looked at: {engine_problem}")
        elif not (orphans or groups or folders):
            say("nothing to remove")
    if not dry_run and len(removed) < len(orphans):
        raise typer.Exit(EXIT_FELL_SHORT)


def _say(text: str) -> None:
    """Print a line as it is: names may look like markup."""
    from rich.markup import escape

    say(escape(text))


def _checked(provider: SandboxProvider) -> dict[str, Any]:
    from harness.errors import SandboxUnavailable

    try:
        provider.check()
    except SandboxUnavailable as error:
        return {"name": provider.name, "available": False, "reason": str(error)}
    return {
        "name": provider.name,
        "available": True,
        "reason": None,
        "capabilities": asdict(provider.capabilities),
        "made_of": provider.describe(),
    }


def _gpus_usable(docker: Any, ids: list[str]) -> str | None:
    """Whether docker hands in GPUs, in words; ``None`` where there are none."""
    from harness.errors import SandboxUnavailable

    if not ids:
        return None
    try:
        docker.check_gpus(ids)
    except SandboxUnavailable as error:
        return str(error)
    return "all of them can be handed in"


def _show(sandboxes: list[dict[str, Any]]) -> None:
    limits = ("memory", "processes", "disk", "cpus")
    show_table(
        "Sandboxes",
        ("sandbox", "can run", "isolates", *limits, "system calls"),
        (
            (
                found["name"],
                "yes",
                "yes" if found["capabilities"]["isolated"] else "NO",
                *(str(found["capabilities"][limit]) for limit in limits),
                "filtered" if found["capabilities"]["system_calls"] else "all",
            )
            if found["available"]
            else (found["name"], "no", *["-"] * 6)
            for found in sandboxes
        ),
        left=8,
    )
    for found in sandboxes:
        if not found["available"]:
            _say(f"{found['name']}: {found['reason']}")
        elif "image" in found["made_of"]:
            made = found["made_of"]
            _say(f"{found['name']}: {made['engine']} {made['version']}, image {made['image']}")
