"""What lies in a folder that every sandbox shows is refused before anything runs there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import SandboxUnavailable
from harness.sandboxes.base import Mount, SandboxProvider, SandboxSpec
from harness.sandboxes.exposure import check_not_shown, python_folders
from harness.sandboxes.hidden import hidden_folders
from harness.tasks.grading import DRIVER

REPOSITORY = Path(__file__).parents[3]


def test_what_lies_elsewhere_may_be_shown(tmp_path: Path) -> None:
    check_not_shown([tmp_path, tmp_path / "not-there-yet", Path("/usrlocal"), DRIVER])


@pytest.mark.parametrize("folder", [Path("/usr"), *python_folders()], ids=str)
def test_what_lies_below_a_shown_folder_is_refused_with_the_fix(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder / "src")
    for path in (folder, folder / "src" / "app" / "tasks", tmp_path / "link" / "app"):
        with pytest.raises(SandboxUnavailable) as caught:
            check_not_shown([tmp_path, path])
        assert str(caught.value).startswith(f"{path} lies below ")
        assert "move it" in str(caught.value)


def test_what_a_sandbox_covers_is_no_exposure() -> None:
    """Tasks that ship with an installed package of ours, or another folder that sandboxes show empty."""
    covered = hidden_folders()
    check_not_shown([*covered, *(folder / "below" for folder in covered)])


def test_no_sandbox_starts_with_such_a_mount(sandbox: SandboxProvider) -> None:
    with pytest.raises(SandboxUnavailable, match="/usr/share lies below /usr"):
        sandbox.start(SandboxSpec((Mount(Path("/usr/share"), "/mlesmith/public"),), "/mlesmith/work"))


def test_a_project_that_is_its_own_virtual_environment_is_refused(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path)], check=True)
    code = f"""
from pathlib import Path
from harness.errors import SandboxUnavailable
from harness.sandboxes.exposure import check_not_shown
try:
    check_not_shown([Path({str(tmp_path / "tasks")!r})])
except SandboxUnavailable as error:
    print(error)
"""
    run = subprocess.run(
        [tmp_path / "bin" / "python", "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert f"lies below {tmp_path}, which every sandbox shows" in run.stdout
