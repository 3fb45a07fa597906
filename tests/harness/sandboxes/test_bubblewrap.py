"""What a bubblewrap sandbox shows, hides and holds. That attacks on it fail is shown in ``attacks/``."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import SandboxUnavailable
from harness.sandboxes import exposure, hidden
from harness.sandboxes.base import MIB, Hold, Limits, Mount, Sandbox, SandboxProvider, SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap
from harness.sandboxes.kernel import users
from harness.tasks.package import Task
from tests.harness.sandboxes.namespaces import held

WORK, PUBLIC = "/mlesmith/work", "/mlesmith/public"
LIMITS = Limits(
    seconds=20.0,
    memory_bytes=512 * MIB,
    disk_bytes=32 * MIB,
    tmp_bytes=16 * MIB,
    shm_bytes=8 * MIB,
    processes=30,
)
Run = Callable[[str], str]


@pytest.fixture(scope="module")
def opened(sandbox: SandboxProvider, _prepared_iris: Path) -> Iterator[Sandbox]:
    spec = SandboxSpec((Mount(_prepared_iris / "public", PUBLIC),), WORK, LIMITS, {"GIVEN": "yes"})
    with sandbox.start(spec) as opened:
        yield opened


@pytest.fixture
def run(opened: Sandbox) -> Run:
    """Runs code, which must end well, and gives its output."""

    def run(code: str) -> str:
        opened.put(code.encode(), f"{WORK}/main.py")
        result = opened.run_python(f"{WORK}/main.py")
        assert result.ok, result
        return result.output

    return run


class TestShown:
    def test_the_root_has_the_system_the_interpreter_and_our_folder(self, run: Run) -> None:
        shown = set(run("import os; print(*os.listdir('/'))").split())
        system = {
            "bin",
            "dev",
            "etc",
            "lib",
            "lib32",
            "lib64",
            "libx32",
            "mlesmith",
            "proc",
            "sbin",
            "tmp",
            "usr",
        }
        way_to_python = {Path(prefix).parts[1] for prefix in (sys.prefix, sys.base_prefix)}
        assert shown <= system | way_to_python

    def test_our_folder_has_what_was_asked_for_and_the_parent_s_scripts(self, run: Run) -> None:
        assert run("import os; print(sorted(os.listdir('/mlesmith')))") == "['inside', 'public', 'work']\n"
        assert run("import os; print(sorted(os.listdir('/mlesmith/public'))[-1])") == "train.csv\n"
        assert "wrong" not in run(
            "import os\nfor path, _, names in os.walk('/mlesmith/inside'):\n"
            "    for name in names: print(name if name.endswith(('.py', '.pyc')) else 'wrong ' + name)"
        )

    def test_of_etc_only_what_programs_need_to_start_and_to_trust(self, run: Run) -> None:
        allowed = {
            "ld.so.cache",
            "ld.so.conf",
            "ld.so.conf.d",
            "alternatives",
            "localtime",
            "ssl",
            "ca-certificates",
        }
        assert set(run("import os; print(*os.listdir('/etc'))").split()) <= allowed

    def test_a_few_devices_and_no_others(self, run: Run) -> None:
        known = {
            "console",
            "core",
            "fd",
            "full",
            "null",
            "ptmx",
            "pts",
            "random",
            "shm",
            "stderr",
            "stdin",
            "stdout",
            "tty",
            "urandom",
            "zero",
        }
        assert set(run("import os; print(*os.listdir('/dev'))").split()) <= known

    def test_the_way_to_the_interpreter_shows_nothing_beside_it(self, run: Run) -> None:
        prefixes = [Path(prefix) for prefix in (sys.prefix, sys.base_prefix) if not prefix.startswith("/usr")]
        if not prefixes:
            pytest.skip("this Python lies in /usr")
        for prefix in prefixes:
            seen = set(run(f"import os; print(*os.listdir({str(prefix.parent)!r}))").split())
            assert seen <= {other.name for other in prefixes} | {
                part for other in prefixes for part in other.parts
            }

    def test_our_packages_and_data_bundled_in_libraries_are_not_there(self, run: Run) -> None:
        output = run("""
import importlib, os, re
for name in ('harness', 'generator', 'stats', 'leaderboards', 'reports', 'mlesmith', 'tests'):
    try:
        print('IMPORTED', name, os.listdir(list(importlib.import_module(name).__path__)[0]))
    except ImportError:
        pass
data = '-packages/(sklearn/datasets/(data|images|tests)|(statsmodels|pingouin)/datasets)(/|$)'
for folder, _, names in os.walk('/'):
    if re.search(data, folder):
        print('SEEN', folder, names)
""")
        assert "IMPORTED" not in output
        assert "sklearn/datasets/data []\n" in output
        assert all(line.endswith(" []") for line in output.splitlines()), output

    def test_the_environment_has_fixed_names_and_those_given(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        output = run("import os; print(sorted(os.environ))")
        assert "GIVEN" in output
        assert not any(
            word in output for word in ("KEY", "TOKEN", "SECRET", "PYTHONPATH", "PROXY", "proxy", "SSH")
        )

    def test_processes_of_its_own_and_no_others(self, run: Run) -> None:
        assert run("import os; print([int(pid) < 1000 for pid in os.listdir('/proc') if pid.isdigit()])") == (
            "[True, True]\n"
        )
        assert run("import os; print(os.getppid())") == "1\n"

    def test_no_network_but_an_empty_loopback(self, run: Run) -> None:
        assert run("import socket; print(socket.if_nameindex())") == "[(1, 'lo')]\n"

    def test_a_name_of_its_own(self, run: Run) -> None:
        assert run("import socket; print(socket.gethostname())") == "sandbox\n"

    def test_a_user_without_rights(self, run: Run) -> None:
        user = users.SANDBOX_USER if users.is_root() else 1000
        assert (
            run("import os; print(os.getresuid(), os.getresgid(), len(os.getgroups()) < 2)")
            == f"{(user,) * 3} {(user,) * 3} True\n"
        )


class TestHidden:
    @pytest.mark.parametrize("name", ["sklearn/datasets/data", "statsmodels/tsa/tests", "harness", "stats"])
    @pytest.mark.parametrize("kind", ["site-packages", "dist-packages"])
    def test_it_is_found_wherever_packages_are(self, tmp_path: Path, kind: str, name: str) -> None:
        folder = tmp_path / kind / name
        folder.mkdir(parents=True)
        (tmp_path / kind / "numpy" / "tests").mkdir(parents=True)

        assert folder in hidden.hidden_below([tmp_path / "other", tmp_path / kind])
        assert tmp_path / kind / "numpy" / "tests" not in hidden.hidden_below([tmp_path / kind])

    def test_packages_are_looked_for_under_every_python_that_is_shown(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        environment = tmp_path / "venv/lib/python3.11/site-packages"
        base = tmp_path / "base/lib64/python3.11/site-packages"
        for folder in (environment, base):
            folder.mkdir(parents=True)
        (tmp_path / "venv/lib64").symlink_to("lib")
        monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
        monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "base"))

        found = hidden.site_folders()

        assert [path for path in found if path.is_relative_to(tmp_path)] == [base, environment]
        places = [Path("/usr/lib"), Path("/usr/local/lib")]
        assert {path for place in places for path in place.glob("python3*/*-packages")} <= set(found)


@pytest.mark.skipif(not users.is_root(), reason="only root's sandboxes run as another user")
def test_a_python_that_only_root_may_read_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an installation under umask 077."""
    closed = tmp_path / "python"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(exposure, "python_folders", lambda: (closed,))
    with pytest.raises(SandboxUnavailable, match=f"chmod -R a.rX {closed}"):
        Bubblewrap().check()


class TestHeld:
    def test_three_folders_can_be_written_each_within_its_size(self, run: Run) -> None:
        output = run("""
import os
for folder in ('/mlesmith/work', '/tmp', '/dev/shm'):
    state = os.statvfs(folder)
    open(f'{folder}/file', 'w').write('x')
    print(folder, (state.f_blocks * state.f_frsize) >> 20)
""")
        assert output == "/mlesmith/work 32\n/tmp 16\n/dev/shm 8\n"

    def test_every_other_place_is_read_only(self, run: Run) -> None:
        output = run("""
import os
found = []
for path, folders, names in os.walk('/'):
    if path in ('/', '/dev'):
        folders[:] = [name for name in folders if name not in ('proc', 'shm', 'pts')]
    if os.access(path, os.W_OK):
        found.append(path)
        folders.clear()
print(found)
""")
        assert output in ("['/mlesmith/work', '/tmp']\n", "['/tmp', '/mlesmith/work']\n")

    @pytest.mark.parametrize("warm", [True, False])
    def test_memory_is_bounded_for_all_processes_together(self, sandbox: SandboxProvider, warm: bool) -> None:
        code = (
            "import os, time\n"
            "for _ in range(8): os.fork() or (globals().update(x=b'x' * (100 << 20)), time.sleep(20))\n"
            "time.sleep(4)\n"
        )
        with sandbox.start(
            SandboxSpec((), WORK, replace(LIMITS, memory_bytes=300 * MIB), warm=warm)
        ) as opened:
            opened.put((code + "print(os.waitpid(-1, os.WNOHANG)[0] > 0)").encode(), f"{WORK}/main.py")
            result = opened.run_python(f"{WORK}/main.py")
            assert result.over == "memory" or result.output == "True\n", result
            assert opened.run(["true"]).ok

    def test_processes_are_bounded(self, opened: Sandbox) -> None:
        result = opened.run(["sh", "-c", "for i in $(seq 100); do sleep 9 & done; wait"])
        assert "fork" in result.output

    def test_what_it_holds_is_told(self, sandbox: SandboxProvider) -> None:
        capabilities = sandbox.capabilities
        assert capabilities.isolated and capabilities.allow_hosts
        assert (capabilities.processes, capabilities.disk) == (Hold.KERNEL, Hold.KERNEL)
        assert capabilities.memory in (Hold.KERNEL, Hold.WATCHED)
        assert sandbox.describe()["gaps"] == list(capabilities.gaps())


class TestEnd:
    def test_stopping_leaves_no_process(self, sandbox: SandboxProvider) -> None:
        with sandbox.start(SandboxSpec((), WORK, LIMITS)) as opened:
            opened.run(["sh", "-c", "setsid sleep 100 &"])
            with held(opened.run(["readlink", "/proc/self/ns/pid"]).output.strip()) as namespace:
                assert namespace.resting or not users.is_root()
                opened.stop()
                assert namespace.comes_to(set())

    @pytest.mark.parametrize("busy", [False, True], ids=["idle", "in a run"])
    def test_a_killed_harness_takes_its_sandboxes_with_it(self, sandbox: SandboxProvider, busy: bool) -> None:
        harness = subprocess.Popen(
            [sys.executable, "-c", _HARNESS, str(busy)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        )
        with harness:
            assert harness.stdout
            with held(harness.stdout.readline().strip()) as namespace:
                time.sleep(0.3)
                harness.kill()
                assert namespace.comes_to(set(), seconds=15)


_HARNESS = """
import sys
from harness.sandboxes.base import SandboxSpec
from harness.sandboxes.bubblewrap import Bubblewrap
sandbox = Bubblewrap().start(SandboxSpec((), '/mlesmith/work'))
print(sandbox.run(['readlink', '/proc/self/ns/pid']).output.strip(), flush=True)
sandbox.run(['sleep', '100']) if sys.argv[1] == 'True' else sys.stdin.read() or __import__('time').sleep(100)
"""


class TestPreflight:
    @pytest.fixture(autouse=True)
    def _forget_the_version(self) -> Iterator[None]:
        from harness.sandboxes import bubblewrap

        bubblewrap._version.cache_clear()
        yield
        bubblewrap._version.cache_clear()

    @pytest.fixture
    def pretend(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
        """Puts a script in the place of bwrap."""

        def pretend(script: str) -> None:
            (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / "bwrap").chmod(0o755)
            monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

        return pretend

    def test_it_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "")
        with pytest.raises(
            SandboxUnavailable, match="install the package bubblewrap, or choose --sandbox docker"
        ):
            Bubblewrap().check()

    def test_it_is_too_old(self, pretend: Callable[[str], None]) -> None:
        pretend("echo bubblewrap 0.4.1")
        with pytest.raises(SandboxUnavailable, match=r"bubblewrap 0\.4 is too old; 0\.8 or newer is needed"):
            Bubblewrap().check()

    def test_namespaces_are_forbidden(self, pretend: Callable[[str], None]) -> None:
        pretend(
            '[ "$1" = --version ] && { echo bubblewrap 0.11.0; exit; }\n'
            "echo 'setting up uid map: Permission denied' >&2; exit 1"
        )
        with pytest.raises(
            SandboxUnavailable, match=r"uid map: Permission denied.*allow unprivileged user namespaces"
        ):
            Bubblewrap().check()

    @pytest.mark.skipif(not users.is_root(), reason="an ordinary user's sandboxes read what that user reads")
    def test_a_folder_closed_to_others_is_named_with_the_fix(
        self, sandbox: SandboxProvider, tmp_path: Path
    ) -> None:
        tmp_path.chmod(0o700)
        with pytest.raises(SandboxUnavailable, match=f"chmod -R a\\+rX {tmp_path}"):
            sandbox.start(SandboxSpec((Mount(tmp_path, PUBLIC),), WORK))

    def test_a_folder_that_is_missing_is_named(self, sandbox: SandboxProvider, iris: Task) -> None:
        with pytest.raises(SandboxUnavailable, match=r"nowhere: cannot be shown in a sandbox: No such file"):
            sandbox.start(SandboxSpec((Mount(iris.root / "nowhere", PUBLIC),), WORK))
