"""Docker sandboxes, in a real engine."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import SandboxLost, SandboxUnavailable
from harness.sandboxes.base import MIB, FileRefused, Limits, Mount, Sandbox, SandboxSpec
from harness.sandboxes.containers import engine as engines
from harness.sandboxes.containers import images
from harness.sandboxes.containers.container import Container
from harness.sandboxes.containers.engine import Engine, find_engine
from harness.sandboxes.docker import Docker
from harness.sandboxes.kernel import users
from tests.harness.sandboxes.websites import HERE, serve

WORK = "/mlesmith/work"
LIMITS = Limits(
    seconds=30.0,
    memory_bytes=512 * MIB,
    disk_bytes=8 * MIB,
    tmp_bytes=4 * MIB,
    shm_bytes=2 * MIB,
    processes=32,
)
SPEC = SandboxSpec(
    (), WORK, LIMITS, labels={"job": "j", "trial": "t", "attempt": "2", "deadline": "4000000000"}
)
GPU = "GPU-3d4f4c76-1111-2222-3333-444455556666"
MIG = "MIG-0a1b2c3d-1111-2222-3333-444455556666"


@pytest.fixture
def sandbox(docker_sandbox: Docker) -> Iterator[Sandbox]:
    with docker_sandbox.start(SPEC) as sandbox:
        yield sandbox


def ours(engine: Engine, trial: str) -> list[dict[str, Any]]:
    """The containers of a trial, running or not."""
    found: list[dict[str, Any]] = engine.api.containers(
        all=True, filters={"label": f"mlesmith.trial={trial}"}
    )
    return found


def named(trial: str) -> SandboxSpec:
    return replace(SPEC, labels={"trial": trial})


class TestProtocol:
    def test_a_program_is_put_run_and_its_output_got(self, sandbox: Sandbox, tmp_path: Path) -> None:
        program = "import sys; open('out.txt', 'w').write(sys.argv[1]); print('done')"
        sandbox.put(program.encode(), f"{WORK}/program.py")

        run = sandbox.run_python(f"{WORK}/program.py", ["hello"])
        sandbox.get(f"{WORK}/out.txt", tmp_path / "out.txt", max_bytes=100)

        assert (run.ok, run.output) == (True, "done\n")
        assert (tmp_path / "out.txt").read_text() == "hello"

    def test_a_failed_command_is_a_result(self, sandbox: Sandbox) -> None:
        assert sandbox.run(["sh", "-c", "exit 3"]).exit_code == 3

    def test_a_run_over_its_time_is_stopped_and_the_sandbox_goes_on(self, sandbox: Sandbox) -> None:
        run = sandbox.run(["sh", "-c", "echo begun; sleep 600"], limits=replace(LIMITS, seconds=1.0))

        assert (run.timed_out, run.output) == (True, "begun\n")
        assert sandbox.run(["true"]).ok

    @pytest.mark.parametrize("size", [0, 1, 3 * MIB])
    def test_files_of_any_size_pass_both_ways_unchanged(
        self, sandbox: Sandbox, tmp_path: Path, size: int
    ) -> None:
        data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)

        sandbox.put(data, f"{WORK}/file")
        sandbox.get(f"{WORK}/file", tmp_path / "file", max_bytes=size)

        assert (tmp_path / "file").read_bytes() == data

    def test_a_file_that_does_not_fit_is_refused(self, sandbox: Sandbox) -> None:
        with pytest.raises(FileRefused, match="No space left"):
            sandbox.put(bytes(LIMITS.disk_bytes + 1), f"{WORK}/file")

    def test_a_sandbox_that_runs_nothing_starts_no_container(
        self, engine: Engine, docker_sandbox: Docker
    ) -> None:
        with docker_sandbox.start(named("idle")):
            assert ours(engine, "idle") == []

    def test_nothing_is_left_when_it_stops(self, engine: Engine, docker_sandbox: Docker) -> None:
        with docker_sandbox.start(named("stopped")) as sandbox:
            sandbox.run(["true"])
            assert len(ours(engine, "stopped")) == 1

        assert ours(engine, "stopped") == []

    def test_the_record_names_the_engine_and_the_image(self, docker_sandbox: Docker) -> None:
        described = docker_sandbox.describe()

        assert described["image_id"].startswith("sha256:")
        assert described["version"] and described["engine"] in ("Docker", "Podman")
        json.dumps(described)


class TestMounts:
    def test_a_folder_is_shown_and_cannot_be_written_to(self, docker_sandbox: Docker, tmp_path: Path) -> None:
        (tmp_path / "public").mkdir()
        (tmp_path / "public" / "train.csv").write_text("a,b\n")

        with docker_sandbox.start(
            SandboxSpec((Mount(tmp_path / "public", "/mlesmith/public"),), WORK)
        ) as sandbox:
            run = sandbox.run(["sh", "-c", "cat /mlesmith/public/train.csv; touch /mlesmith/public/new"])

        assert run.output.startswith("a,b\n")
        assert "Read-only file system" in run.output

    def test_a_writable_folder_holds_the_work_and_is_ours_again_afterwards(
        self, docker_sandbox: Docker, tmp_path: Path
    ) -> None:
        if docker_sandbox.engine.maps_users:
            pytest.skip("this engine maps users, so no folder can be lent")
        (tmp_path / "out").mkdir()
        before = (tmp_path / "out").stat()

        spec = SandboxSpec(
            (Mount(tmp_path / "out", "/mlesmith/out", writable=True),), "/mlesmith/out", LIMITS
        )
        with docker_sandbox.start(spec) as sandbox:
            assert sandbox.run(["sh", "-c", "echo made > made.txt; chmod 600 made.txt"]).ok

        assert (tmp_path / "out" / "made.txt").read_text() == "made\n"
        for path in (tmp_path / "out", tmp_path / "out" / "made.txt"):
            assert (path.stat().st_uid, path.stat().st_gid) == (before.st_uid, before.st_gid)

    def test_a_source_that_is_missing_is_named(self, docker_sandbox: Docker, tmp_path: Path) -> None:
        with pytest.raises(SandboxUnavailable, match=r"nowhere: cannot be shown .* No such file"):
            docker_sandbox.start(SandboxSpec((Mount(tmp_path / "nowhere", "/mlesmith/x"),), WORK))

    @pytest.mark.skipif(not users.is_root(), reason="an ordinary user's sandboxes read what that user reads")
    def test_a_source_closed_to_others_is_named_with_the_fix(
        self, docker_sandbox: Docker, tmp_path: Path
    ) -> None:
        (tmp_path / "closed").mkdir(mode=0o700)

        with pytest.raises(SandboxUnavailable, match=r"closed: .* chmod -R a\+rX"):
            docker_sandbox.start(SandboxSpec((Mount(tmp_path / "closed", "/mlesmith/x"),), WORK))


class TestNetwork:
    FETCH = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=10).read())"

    def fetch(self, sandbox: Sandbox, url: str) -> str:
        sandbox.put(self.FETCH.encode(), f"{WORK}/fetch.py")
        return sandbox.run_python(f"{WORK}/fetch.py", [url]).output

    def test_there_is_none(self, sandbox: Sandbox) -> None:
        with serve() as port:
            assert "URLError" in self.fetch(sandbox, f"http://{HERE}:{port}/")

    def test_a_named_host_is_reached_and_no_other(self, docker_sandbox: Docker) -> None:
        with serve() as named, serve() as other:
            spec = replace(SPEC, allow_hosts=(f"{HERE}:{named}",))
            with docker_sandbox.start(spec) as sandbox:
                reached = self.fetch(sandbox, f"http://{HERE}:{named}/")
                refused = self.fetch(sandbox, f"http://{HERE}:{other}/")

        assert reached == "b'a page\\n'\n"
        assert "403" in refused


class TestRequest:
    """What the engine was asked for, by its own account."""

    @pytest.fixture
    def inspected(self, engine: Engine, docker_sandbox: Docker) -> Iterator[dict[str, Any]]:
        with docker_sandbox.start(replace(SPEC, labels={**SPEC.labels, "trial": "inspected"})) as sandbox:
            sandbox.run(["true"])
            (container,) = ours(engine, "inspected")
            yield engine.api.inspect_container(container["Id"])

    def test_every_limit_and_every_wall(self, inspected: dict[str, Any]) -> None:
        expected = {
            "NetworkMode": "none",
            "ReadonlyRootfs": True,
            "Privileged": False,
            "CapAdd": None,
            "Memory": LIMITS.memory_bytes,
            "MemorySwap": LIMITS.memory_bytes,
            "NanoCpus": 1_000_000_000,
            "ShmSize": LIMITS.shm_bytes,
            "PidsLimit": LIMITS.processes + 8,
            "Init": True,
            "AutoRemove": True,
            "OomScoreAdj": 500,
            "DeviceRequests": None,
            "Devices": None,
            "PortBindings": None,
        }

        assert {name: inspected["HostConfig"].get(name) or None for name in expected} == {
            name: value or None for name, value in expected.items()
        }

    def test_no_namespace_is_shared(self, sandbox: Sandbox) -> None:
        kinds = ("ipc", "mnt", "net", "pid", "uts")
        theirs = sandbox.run(["readlink", *(f"/proc/self/ns/{kind}" for kind in kinds)]).output.split()

        assert len(theirs) == len(kinds)
        assert not set(theirs) & {str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in kinds}

    def test_all_capabilities_are_dropped(self, sandbox: Sandbox) -> None:
        run = sandbox.run(["grep", "-E", "^(Cap|NoNewPrivs|Seccomp:)", "/proc/self/status"])

        shown = dict(line.split(":\t") for line in run.output.splitlines())
        assert {int(value, 16) for name, value in shown.items() if name.startswith("Cap")} == {0}
        assert (shown["NoNewPrivs"], shown["Seccomp"]) == ("1", "2")

    def test_every_folder_of_the_host_is_mounted_read_only(self, inspected: dict[str, Any]) -> None:
        binds = {
            mount["Destination"]: mount["RW"] for mount in inspected["Mounts"] if mount["Type"] == "bind"
        }

        assert binds == {"/mlesmith/inside": False}

    def test_the_working_folder_and_tmp_are_bounded_and_no_other_is_writable(self, sandbox: Sandbox) -> None:
        found = sandbox.run(["find", "/", "-xdev", "-type", "d", "-writable", "-not", "-path", "/proc/*"])
        sizes = sandbox.run(["df", "-B1", "--output=size", WORK, "/tmp", "/dev/shm"])

        assert set(found.output.split()) <= {WORK, "/tmp"}
        assert [int(size) for size in sizes.output.split()[1:]] == [
            LIMITS.disk_bytes, LIMITS.tmp_bytes, LIMITS.shm_bytes,
        ]  # fmt: skip

    def test_nothing_of_the_kernel_can_be_written(self, sandbox: Sandbox) -> None:
        # A file that is masked is /dev/null.
        search = (
            r"find /proc /sys -writable ! -path '/proc/[0-9]*' ! -exec sh -c '[ -c $0 ]' {} \; -print 2>&-"
        )

        assert sandbox.run(["sh", "-c", search]).output == ""

    def test_the_code_is_a_user_without_rights_and_not_the_keeper(
        self, sandbox: Sandbox, inspected: dict[str, Any]
    ) -> None:
        user = sandbox.run(["sh", "-c", "echo $(id -u):$(id -g)"]).output.strip()

        assert (
            user == f"{users.sandbox_user()}:{users.SANDBOX_USER if users.is_root() else user.split(':')[1]}"
        )
        assert inspected["Config"]["User"] not in (user, "", "0:0")

    def test_labels_say_what_it_belongs_to(self, inspected: dict[str, Any]) -> None:
        labels = inspected["Config"]["Labels"]

        assert labels["mlesmith.job"] == "j"
        assert labels["mlesmith.attempt"] == "2"
        assert labels["mlesmith.deadline"] == "4000000000"
        assert labels["mlesmith.owner"]

    def test_no_variable_of_ours_is_passed_on(
        self, docker_sandbox: Docker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "a secret")

        with docker_sandbox.start(replace(SPEC, environment={"SHOWN": "1"})) as sandbox:
            output = sandbox.run(["env"]).output

        assert "SHOWN=1" in output.splitlines()
        assert "secret" not in output


class TestGpus:
    """Where tests run there is no GPU; that the request is right, and the refusal, can still be seen."""

    @pytest.mark.parametrize("ids", [(GPU,), ("0", "3"), (MIG,), (GPU, MIG)])
    def test_the_leased_devices_and_no_others_are_asked_for(
        self, engine: Engine, docker_image: str, ids: tuple[str, ...]
    ) -> None:
        if engine.name == "Podman":
            pytest.skip("Podman ignores device requests, and we refuse it for GPUs")
        container = Container(engine, images.find(engine, docker_image), replace(SPEC, gpus=ids))
        try:
            said = engine.api.inspect_container(container.create())
        finally:
            container.remove()

        (request,) = said["HostConfig"]["DeviceRequests"]
        assert request["DeviceIDs"] == list(ids)
        assert request["Capabilities"] == [["gpu"]]
        assert not request["Count"]
        assert f"NVIDIA_VISIBLE_DEVICES={','.join(ids)}" in said["Config"]["Env"]

    def test_none_is_visible_without_a_lease(self, sandbox: Sandbox) -> None:
        assert sandbox.run(["sh", "-c", "echo $NVIDIA_VISIBLE_DEVICES"]).output == "void\n"

    @pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="here is a GPU")
    def test_an_engine_without_the_nvidia_runtime_is_said_at_the_start(
        self, engine: Engine, docker_sandbox: Docker
    ) -> None:
        with pytest.raises(SandboxUnavailable, match=f"{GPU}.*NVIDIA Container Toolkit"):
            docker_sandbox.start(replace(named("gpu"), gpus=(GPU,)))

        assert ours(engine, "gpu") == []


class TestLoss:
    """A sandbox that dies is told from a command that fails, and at once."""

    def lose(self, provider: Docker, engine: Engine, trial: str, how: str) -> float:
        with provider.start(named(trial)) as sandbox:
            sandbox.run(["true"])
            (container,) = ours(engine, trial)

            def end() -> None:
                time.sleep(1.0)
                if how == "killed":
                    engine.api.kill(container["Id"])
                else:
                    engine.api.remove_container(container["Id"], force=True)

            thread = threading.Thread(target=end)
            thread.start()
            started = time.monotonic()
            with pytest.raises(SandboxLost):
                sandbox.run(["sleep", "600"], limits=replace(LIMITS, seconds=25.0))
            thread.join()
            return time.monotonic() - started

    @pytest.mark.parametrize("how", ["killed", "removed"])
    def test_a_container_ended_from_outside(self, engine: Engine, docker_sandbox: Docker, how: str) -> None:
        assert self.lose(docker_sandbox, engine, f"lost-{how}", how) < 20.0
        assert ours(engine, f"lost-{how}") == []

    def test_an_engine_that_goes_away(self, engine: Engine, docker_image: str, tmp_path: Path) -> None:
        relay = Relay(engine.url.removeprefix("unix://"), tmp_path / "socket")
        with Docker(docker_image, Engine(f"unix://{relay.path}")).start(named("gone")) as sandbox:
            sandbox.run(["true"])
            threading.Timer(1.0, relay.cut).start()

            with pytest.raises(SandboxLost):
                sandbox.run(["sleep", "600"], limits=replace(LIMITS, seconds=25.0))

        (left,) = ours(engine, "gone")  # nobody could remove it; that is what the sweep is for
        engine.api.remove_container(left["Id"], force=True)


class TestEngines:
    """Engines that cannot be used; the message says why, and the fix."""

    def test_no_socket(self, tmp_path: Path) -> None:
        with pytest.raises(SandboxUnavailable, match=r"no container engine at unix://.*install and start"):
            Engine(f"unix://{tmp_path}/none").check()

    def test_a_socket_that_nobody_serves(self, tmp_path: Path) -> None:
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(tmp_path / "dead"))

        with pytest.raises(SandboxUnavailable, match=r"refused.*start it"):
            Engine(f"unix://{tmp_path}/dead").check()

    def test_a_socket_that_never_answers(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(engines, "ANSWER_SECONDS", 1)
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(str(tmp_path / "silent"))
            silent.listen()

            with pytest.raises(SandboxUnavailable, match="does not answer"):
                Engine(f"unix://{tmp_path}/silent").check()

    @pytest.mark.parametrize(
        ("said", "mapped"),
        [
            ({"SecurityOptions": ["name=seccomp,profile=default"]}, False),
            ({"SecurityOptions": ["name=seccomp,profile=default", "name=userns"]}, True),
            ({"SecurityOptions": ["name=seccomp,profile=default", "name=rootless"]}, True),
            ({"Rootless": True}, True),
            ({"SecurityOptions": None}, False),
        ],
    )
    def test_an_engine_tells_whether_users_inside_are_others_outside(
        self, said: dict[str, Any], mapped: bool
    ) -> None:
        engine = Engine("unix:///unused")
        engine.info = said

        assert engine.maps_users is mapped

    def test_a_missing_image_names_the_command_that_builds_one(self, engine: Engine) -> None:
        with pytest.raises(SandboxUnavailable, match=r"mlesmith/none:1.*mlesmith sandbox build"):
            Docker("mlesmith/none:1", engine).check()

    def test_docker_host_alone_is_tried_when_it_is_set(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")

        with pytest.raises(SandboxUnavailable, match=f"{tmp_path}/none"):
            find_engine()


class Relay:
    """A socket before the engine's, which can be cut as if the engine had died."""

    def __init__(self, engine: str, path: Path) -> None:
        self.path = path
        self._engine = engine
        self._ends: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        self.path.unlink()
        for end in [self._listener, *self._ends]:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                end.close()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._engine)
            self._ends += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            return
