"""Images for docker sandboxes: what is in them, which one is taken, and what is said when there is none."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sklearn

from harness.errors import InputError, SandboxUnavailable
from harness.sandboxes import hidden
from harness.sandboxes.base import Sandbox, SandboxSpec
from harness.sandboxes.containers import hostimage, images
from harness.sandboxes.containers.engine import Engine
from harness.sandboxes.docker import Docker

FOLDER = Path(images.__file__).with_name("image")


@pytest.fixture
def sandbox(docker_sandbox: Docker) -> Iterator[Sandbox]:
    with docker_sandbox.start(SandboxSpec((), "/mlesmith/work")) as sandbox:
        yield sandbox


class TestHostImage:
    def test_its_python_is_this_one_with_its_packages(self, sandbox: Sandbox) -> None:
        program = (
            "import sys, ssl, numpy, pandas, scipy, sklearn.ensemble, statsmodels.api, matplotlib.pyplot\n"
            "print(sys.version, sklearn.__version__)"
        )
        sandbox.put(program.encode(), "/mlesmith/work/program.py")

        run = sandbox.run_python("/mlesmith/work/program.py")

        assert run.output == f"{sys.version} {sklearn.__version__}\n"

    @pytest.mark.parametrize("package", hidden.OUR_PACKAGES)
    def test_our_packages_are_not_there(self, sandbox: Sandbox, package: str) -> None:
        sandbox.put(f"import {package}; print({package}.__file__)".encode(), "/mlesmith/work/program.py")

        run = sandbox.run_python("/mlesmith/work/program.py")

        assert "ModuleNotFoundError" in run.output or run.output == "None\n"

    def test_a_virtual_environment_lies_where_nothing_covers_it_whatever_its_place_here(
        self, sandbox: Sandbox
    ) -> None:
        if sys.prefix == sys.base_prefix:
            pytest.skip("these tests run in no virtual environment")
        program = "import sys, numpy; print(sys.prefix, sys.base_prefix, sys.executable, numpy.__file__)"
        sandbox.put(program.encode(), "/mlesmith/work/program.py")

        prefix, base, executable, package = sandbox.run_python("/mlesmith/work/program.py").output.split()

        assert (prefix, Path(base)) == ("/opt/agent", Path(sys.base_prefix).resolve())
        assert executable.startswith("/opt/agent/bin/") and package.startswith("/opt/agent/lib")
        assert sandbox.run(["grep", "-r", sys.prefix, "/opt/agent/pyvenv.cfg"]).output == ""

    def test_no_link_of_the_environment_leads_nowhere(self, sandbox: Sandbox) -> None:
        environment = str(hostimage.moved(Path(sys.prefix).resolve()))

        assert sandbox.run(["find", environment, "-xtype", "l"]).output == ""

    def test_links_lead_to_where_their_targets_have_moved(self, tmp_path: Path) -> None:
        """Some tools make an environment with absolute links, and some links lead out of it."""
        environment = tmp_path / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        site = next(environment.glob("lib/python3*/site-packages"))
        (environment / "lib64").unlink(missing_ok=True)
        (environment / "lib64").symlink_to(environment / "lib")
        (tmp_path / "outside.py").touch()
        (site / "within.py").touch()
        for name, target in {
            "absolute.py": site / "within.py",
            "relative.py": Path("within.py"),
            "out.py": Path("../../../../outside.py"),
        }.items():
            (site / name).symlink_to(target)

        code = (
            "import sys, tarfile; from harness.sandboxes.containers import hostimage\n"
            "with hostimage.stream() as stream, tarfile.open(fileobj=stream, mode='r|') as tar:\n"
            "    for entry in tar: print(entry.name, entry.linkname, sep=' -> ')"
        )
        said = subprocess.run(
            [environment / "bin" / "python", "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": os.defpath, "PYTHONPATH": str(Path(__file__).parents[3])},
        ).stdout
        entries = dict(line.split(" -> ") for line in said.splitlines())

        moved = "/opt/agent" + str(site).removeprefix(str(environment))
        expected = {
            "absolute.py": f"{moved}/within.py",
            "relative.py": f"{moved}/within.py",
            "out.py": str(tmp_path / "outside.py"),
        }
        assert {name: entries[f"{moved}/{name}".lstrip("/")] for name in expected} == expected
        assert entries["opt/agent/lib64"] == "/opt/agent/lib"
        assert not [name for name in entries if f"/{name}".startswith(str(environment))]

    @pytest.mark.parametrize("prefix", ["/tmp/python", "/dev/shm/python/3.11"])
    def test_a_python_that_containers_would_cover_is_refused(
        self, engine: Engine, monkeypatch: pytest.MonkeyPatch, prefix: str
    ) -> None:
        monkeypatch.setattr(hostimage, "_BASE_PREFIX", Path(prefix))

        with pytest.raises(SandboxUnavailable, match=rf"installed in {prefix}.*elsewhere"):
            images.import_host(engine, "mlesmith/tests:covered")

    def test_no_folder_of_bundled_data_holds_anything(self, sandbox: Sandbox) -> None:
        folders = [str(hostimage.moved(folder.resolve())) for folder in hidden.hidden_folders()]
        assert any("sklearn/datasets/data" in folder for folder in folders)

        assert sandbox.run(["find", *folders, "-type", "f"]).output == ""

    def test_everything_is_readable_and_nothing_changes_users(self, sandbox: Sandbox) -> None:
        search = (
            "find / -xdev -path /proc -prune -o ( -type f -o -type d ) ( ! -readable -o -perm /7000 ) -print"
        )

        found = sandbox.run(search.split()).output.split()

        assert [
            path for path in found if not path.startswith(("/mlesmith/work", "/tmp", "/dev", "/sys"))
        ] == []

    def test_the_same_content_is_imported_once(self, engine: Engine, docker_image: str) -> None:
        said: list[str] = []

        again = images.import_host(engine, docker_image, progress=said.append)

        assert again == images.find(engine, docker_image)
        assert said == [f"{docker_image} is up to date"]

    def test_the_key_knows_the_packages(self, monkeypatch: pytest.MonkeyPatch) -> None:
        before = hostimage.key()
        monkeypatch.setattr(hostimage.metadata, "distributions", lambda: [])

        assert hostimage.key() != before


@pytest.fixture
def tiny(engine: Engine, tmp_path: Path) -> Iterator[str]:
    """An image of one file, made as those of hosts without a registry are."""
    tar = tmp_path / "root.tar"
    with tarfile.open(tar, "w") as archive:
        entry = tarfile.TarInfo("file")
        entry.size = 5
        archive.addfile(entry, io.BytesIO(b"hello"))
    name = images.import_rootfs(engine, tar, "mlesmith/tests:tiny").name
    yield name
    engine.api.remove_image(name, force=True)


class TestFinding:
    def test_an_imported_root_filesystem_is_an_image(self, engine: Engine, tiny: str) -> None:
        image = images.find(engine, tiny)

        assert image.id.startswith("sha256:")
        assert "/usr/bin" in image.path.split(":")

    def test_what_is_no_archive_is_refused(self, engine: Engine, tmp_path: Path) -> None:
        (tmp_path / "root.tar").write_text("no archive")

        with pytest.raises(InputError, match=r"root\.tar: is no tar archive"):
            images.import_rootfs(engine, tmp_path / "root.tar")
        with pytest.raises(InputError, match=r"none\.tar: not found"):
            images.import_rootfs(engine, tmp_path / "none.tar")

    @pytest.mark.parametrize(
        ("there", "gpus", "taken"),
        [
            ({images.GPU, images.CPU, images.HOST}, True, images.GPU),
            ({images.GPU, images.CPU, images.HOST}, False, images.CPU),
            ({images.GPU, images.HOST}, False, images.HOST),
            ({images.HOST}, True, images.HOST),
        ],
    )
    def test_the_preferred_image_that_there_is(
        self, monkeypatch: pytest.MonkeyPatch, there: set[str], gpus: bool, taken: str
    ) -> None:
        def inspect(engine: Engine, name: str) -> dict[str, object]:
            if name not in there:
                raise images.ImageNotFound("no such image")
            return {"Id": f"sha256:{name}"}

        monkeypatch.setattr(images, "_inspect", inspect)

        assert images.find(Engine("unix:///unused"), gpus=gpus).name == taken

    def test_a_volume_would_be_a_way_around_the_limits(
        self, engine: Engine, tmp_path: Path, tiny: str
    ) -> None:
        container = engine.api.create_container(tiny, ["/file"])["Id"]
        try:
            engine.api.commit(container, "mlesmith/tests", "volume", changes=["VOLUME /data"])
        finally:
            engine.api.remove_container(container)
        try:
            with pytest.raises(SandboxUnavailable, match=r"volume /data.*without VOLUME"):
                images.find(engine, "mlesmith/tests:volume")
        finally:
            engine.api.remove_image("mlesmith/tests:volume", force=True)


class TestDockerfile:
    @pytest.mark.parametrize("variant", ["cpu", "gpu"])
    def test_every_requirement_is_pinned(self, variant: str) -> None:
        lines = (FOLDER / f"requirements-{variant}.txt").read_text().split("\n")

        assert all("==" in line for line in lines if line.strip() and not line.startswith("#"))

    @pytest.mark.parametrize("variant", ["cpu", "gpu"])
    def test_the_pins_are_those_of_the_names_asked_for(self, variant: str) -> None:
        asked = set((FOLDER / f"requirements-{variant}.in").read_text().split())
        pinned = {
            line.partition("==")[0] for line in (FOLDER / f"requirements-{variant}.txt").read_text().split()
        }

        assert asked <= pinned

    def test_it_ends_without_rights_and_copies_only_what_it_is_given(self) -> None:
        lines = (FOLDER / "Dockerfile").read_text().splitlines()

        assert [line for line in lines if line.startswith("USER ")][-1] == "USER 65532:65532"
        with tarfile.open(fileobj=images.build_context()) as context:
            names = context.getnames()
        for line in lines:
            if line.startswith("COPY "):
                source = line.split()[1].replace("${REQUIREMENTS}", "requirements-cpu.txt")
                assert source in names

    def test_a_failed_build_says_why_and_the_way_without_a_registry(self, engine: Engine, tiny: str) -> None:
        with pytest.raises(SandboxUnavailable, match=r"building mlesmith/tests:built failed(?s:.*)--host"):
            images.build(engine, "cpu", base=tiny, name="mlesmith/tests:built")
