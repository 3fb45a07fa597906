"""What code under the filter is refused, and what still works, in a real bubblewrap."""

from __future__ import annotations

import contextlib
import errno
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from harness.sandboxes.kernel import seccomp


def bubblewrap_starts() -> bool:
    if shutil.which("bwrap") is None:
        return False
    probe = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


needs_filter = pytest.mark.skipif(not seccomp.available(), reason=seccomp.problem() or "-")
needs_bubblewrap = pytest.mark.skipif(not bubblewrap_starts(), reason="bubblewrap cannot start here")
needs_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86-64")


@contextlib.contextmanager
def program_fd() -> Iterator[int]:
    """The filter as a file, which is how bubblewrap takes one."""
    with tempfile.TemporaryFile() as file:
        file.write(seccomp.filter_program())
        file.seek(0)
        yield file.fileno()


#: All that bubblewrap can give, so that the kernel itself refuses less.
CAPABLE = ("--uid", "0", "--cap-add", "ALL")


def run(command: Sequence[str], *options: str, filtered: bool = True) -> subprocess.CompletedProcess[str]:
    """Run under bubblewrap."""
    sandbox = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"]
    # This Python may itself lie below /tmp.
    python = [word for prefix in (sys.base_prefix, sys.prefix) for word in ("--ro-bind", prefix, prefix)]
    view = ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", *python, *options]
    with program_fd() as descriptor:
        filtering = ["--seccomp", str(descriptor)] if filtered else []
        return subprocess.run(
            [*sandbox, *view, *filtering, "--", *command],
            pass_fds=[descriptor],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


def call(number: int, *arguments: int, filtered: bool = True) -> int:
    """The errno of a system call inside; 0 when it succeeds."""
    code = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
parent = os.getpid()
result = libc.syscall(*(ctypes.c_ulong(int(argument)) for argument in sys.argv[1:]))
failed = ctypes.get_errno() if result == -1 else 0
if os.getpid() == parent:
    print(failed)
"""
    command = [sys.executable, "-S", "-c", code, str(number), *map(str, arguments)]
    done = run(command, *CAPABLE, filtered=filtered)
    assert done.returncode == 0, done
    return int(done.stdout)


# Numbers and arguments are those of x86-64: what the kernel itself is told, with no library between.
REFUSED = {
    "add_key": (248,),
    "keyctl": (250,),
    "request_key": (249,),
    "ptrace": (101,),
    "process_vm_readv": (310,),
    "process_vm_writev": (311,),
    "process_madvise": (440,),
    "kcmp": (312,),
    "pidfd_getfd": (438,),
    "migrate_pages": (256,),
    "move_pages": (279,),
    "bpf": (321,),
    "fanotify_init": (300,),
    "perf_event_open": (298,),
    "userfaultfd": (323,),
    "mount": (165,),
    "umount2": (166,),
    "pivot_root": (155,),
    "move_mount": (429,),
    "open_tree": (428,),
    "fsopen": (430,),
    "fsconfig": (431,),
    "fsmount": (432,),
    "fspick": (433,),
    "mount_setattr": (442,),
    "chroot": (161,),
    "setns": (308,),
    "unshare, nothing": (272, 0),
    "unshare, a user namespace": (272, 0x1000_0000),
    "clone, a user namespace": (56, 0x1000_0000 | 17),
    "clone, a mount namespace": (56, 0x0002_0000 | 17),
    "clone, a PID and a network namespace": (56, 0x2000_0000 | 0x4000_0000 | 17),
    "clone, an IPC namespace": (56, 0x0800_0000 | 17),
    "clone, a UTS namespace": (56, 0x0400_0000 | 17),
    "clone, a cgroup namespace": (56, 0x0200_0000 | 17),
    "name_to_handle_at": (303,),
    "open_by_handle_at": (304,),
    "swapon": (167,),
    "swapoff": (168,),
    "reboot": (169,),
    "kexec_load": (246,),
    "kexec_file_load": (320,),
    "create_module": (174,),
    "init_module": (175,),
    "delete_module": (176,),
    "finit_module": (313,),
    "adjtimex": (159,),
    "settimeofday": (164,),
    "clock_settime": (227,),
    "clock_adjtime": (305,),
    "acct": (163,),
    "quotactl": (179,),
    "ioperm": (173,),
    "iopl": (172,),
    "modify_ldt": (154,),
    "syslog": (103,),
    "vhangup": (153,),
    "uselib": (134,),
    "ustat": (136,),
    "sysfs": (139,),
    "_sysctl": (156,),
    "nfsservctl": (180,),
    "lookup_dcookie": (212,),
    "ioctl TIOCSTI": (16, 0, 0x5412),
    "ioctl TIOCSTI, with a bit that the kernel ignores": (16, 0, 0x1_0000_5412),
    "ioctl TIOCLINUX": (16, 0, 0x541C),
    "personality, without random addresses": (135, 0x0004_0000),
    "personality, with a bit that the kernel ignores": (135, 0x1_0004_0000),
}
ABSENT = {
    "clone3": (435,),
    "io_uring_setup": (425,),
    "io_uring_enter": (426,),
    "io_uring_register": (427,),
    "mq_open": (240,),
    "msgget": (68,),
    "semget": (64,),
    "shmget": (29,),
}
#: Families by number; their second and third argument are a kind and a protocol.
NO_FAMILY = {
    "AF_UNSPEC": (0, 1, 0),
    "AF_AX25": (3, 2, 0),
    "AF_KEY": (15, 3, 2),
    "AF_PACKET": (17, 3, 0),
    "AF_RDS": (21, 5, 0),
    "AF_CAN": (29, 3, 1),
    "AF_TIPC": (30, 1, 0),
    "AF_BLUETOOTH": (31, 3, 1),
    "AF_ALG": (38, 5, 0),
    "AF_VSOCK": (40, 1, 0),
    "AF_XDP": (44, 3, 0),
    "AF_VSOCK, with a bit that the kernel ignores": (0x1_0000_0028, 1, 0),
}
EXPECTED = (
    [pytest.param(arguments, errno.EPERM, id=name) for name, arguments in REFUSED.items()]
    + [pytest.param(arguments, errno.ENOSYS, id=name) for name, arguments in ABSENT.items()]
    + [
        pytest.param((number, *arguments), errno.EAFNOSUPPORT, id=f"{call} {name}")
        for call, number in (("socket", 41), ("socketpair", 53))
        for name, arguments in NO_FAMILY.items()
    ]
    + [
        pytest.param((41, 16, 3, 15), errno.EPROTONOSUPPORT, id="socket AF_NETLINK, events of devices"),
        pytest.param((41, 16, 3, 12), errno.EPROTONOSUPPORT, id="socket AF_NETLINK, firewall"),
    ]
)


@needs_filter
@needs_bubblewrap
@needs_x86_64
@pytest.mark.parametrize(("arguments", "expected"), EXPECTED)
def test_refused(arguments: tuple[int, ...], expected: int) -> None:
    assert call(*arguments) == expected


@needs_filter
@needs_bubblewrap
@needs_x86_64
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(REFUSED["unshare, a user namespace"], id="user namespace"),
        pytest.param(REFUSED["personality, without random addresses"], id="personality"),
        pytest.param((29, 0, 4096, 0o1600), id="shmget"),
        pytest.param((323, 1), id="userfaultfd"),
        pytest.param((425, 0, 0), id="io_uring"),
        pytest.param((41, 17, 3, 0), id="packets"),
        pytest.param((41, 40, 1, 0), id="virtual machine's host"),
    ],
)
def test_without_the_filter_the_kernel_answers_otherwise(arguments: tuple[int, ...]) -> None:
    """Else the test above would show what some other part refuses."""
    assert call(*arguments, filtered=False) != call(*arguments)


@needs_filter
@needs_bubblewrap
@needs_x86_64
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((41, 1, 1, 0), id="socket AF_UNIX"),
        pytest.param((41, 2, 1, 0), id="socket AF_INET"),
        pytest.param((41, 10, 2, 0), id="socket AF_INET6"),
        pytest.param((41, 16, 3, 0), id="socket AF_NETLINK, routes"),
        pytest.param((135, 0xFFFF_FFFF), id="personality, asked"),
        pytest.param((56, 17), id="clone, a process"),
        pytest.param((434, 1, 0), id="pidfd_open"),
    ],
)
def test_allowed(arguments: tuple[int, ...]) -> None:
    assert call(*arguments) == 0


@needs_filter
@needs_bubblewrap
@needs_x86_64
@pytest.mark.parametrize(
    "machine_code",
    [
        # mov eax, number; syscall; ret
        pytest.param("b8 27 00 00 40  0f 05  c3", id="x32: getpid"),
        pytest.param("b8 65 00 00 40  0f 05  c3", id="x32: ptrace by its number on x86-64"),
        pytest.param("b8 09 02 00 40  0f 05  c3", id="x32: ptrace"),
        # mov eax, number; int 0x80; ret
        pytest.param("b8 14 00 00 00  cd 80  c3", id="i386: getpid"),
        pytest.param("b8 1a 00 00 00  cd 80  c3", id="i386: ptrace"),
    ],
)
def test_calls_of_another_architecture_end_the_process(machine_code: str) -> None:
    code = """
import ctypes, mmap, sys
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex(sys.argv[1]))
print(ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""
    command = [sys.executable, "-S", "-c", code, machine_code]
    assert run(command).returncode == 128 + 31  # SIGSYS, as bubblewrap tells it
    native = run([sys.executable, "-S", "-c", code, "b8 27 00 00 00  0f 05  c3"])
    assert native.returncode == 0 and int(native.stdout) > 0


WORKS = {
    "numpy": "import numpy as np; np.linalg.svd(np.random.rand(300, 300))",
    "pandas": """
import io, pandas as pd
frame = pd.read_csv(io.StringIO("a,b\\n1,x\\n2,y"))
frame.to_csv("/tmp/out.csv"); print(pd.read_csv("/tmp/out.csv").groupby("b").a.sum())
""",
    "scikit-learn, two workers": """
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import cross_val_score
x, y = make_classification(200, random_state=0)
cross_val_score(RandomForestClassifier(10, n_jobs=2), x, y, n_jobs=2)
HistGradientBoostingClassifier(max_iter=5).fit(x, y)
""",
    "joblib, processes": """
from joblib import Parallel, delayed
assert Parallel(n_jobs=2)(delayed(abs)(-n) for n in range(9)) == list(range(9))
""",
    "joblib, memory-mapped arrays": """
import numpy as np
from joblib import Parallel, delayed
x = np.ones((400, 1000))
assert sum(Parallel(n_jobs=2, max_nbytes=1000)(delayed(np.sum)(x) for _ in range(2))) == 2 * x.size
""",
    "a pool that forks": """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
""",
    "a pool that spawns": """
import multiprocessing
with multiprocessing.get_context("spawn").Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
""",
    "a fork server": """
import multiprocessing
with multiprocessing.get_context("forkserver").Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
""",
    "shared memory, queues and locks": """
import multiprocessing as mp
from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(create=True, size=100); memory.close(); memory.unlink()
queue, lock, value = mp.Queue(), mp.Lock(), mp.Value("i")
mp.Process(target=queue.put, args=(1,)).start(); assert queue.get(timeout=60) == 1
""",
    "threads": """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool: assert list(pool.map(abs, range(99))) == list(range(99))
""",
    "subprocess": """
import os, subprocess
assert subprocess.run(["sh", "-c", "echo a | cat"], capture_output=True).stdout == b"a\\n"
assert os.system("true") == 0
os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
""",
    "asyncio": """
import asyncio
async def main():
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    reader, _ = await asyncio.open_connection(*server.sockets[0].getsockname())
    assert await reader.read() == b""
    process = await asyncio.create_subprocess_exec("true")
    assert await process.wait() == 0
asyncio.run(main())
""",
    "names and addresses": """
import socket
assert socket.getaddrinfo("127.0.0.1", 80) and socket.if_nameindex()
socket.create_server(("::1", 0), family=socket.AF_INET6) if socket.has_ipv6 else None
""",
    "sqlite3": """
import sqlite3
database = sqlite3.connect("/tmp/data.db"); database.execute("create table t (a)"); database.commit()
""",
    "matplotlib": """
import matplotlib; matplotlib.use("Agg")
import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.savefig("/tmp/plot.png")
""",
    "pillow": "from PIL import Image; Image.new('RGB', (9, 9)).resize((3, 3)).save('/tmp/x.jpg')",
    "scipy and statsmodels": """
import numpy as np, scipy.optimize, statsmodels.api as sm
scipy.optimize.minimize(lambda x: (x ** 2).sum(), np.ones(3))
sm.OLS(np.arange(9.0), np.ones((9, 1))).fit()
""",
}


@needs_filter
@needs_bubblewrap
@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in WORKS.items()])
def test_still_works(code: str, tmp_path: Path) -> None:
    script = tmp_path / "main.py"  # a file: processes that spawn import their main module anew
    script.write_text("if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in code.splitlines()))
    environment = {"MPLCONFIGDIR": "/tmp", "LOKY_MAX_CPU_COUNT": "2"}
    options = [word for name, value in environment.items() for word in ("--setenv", name, value)]
    done = run(
        [sys.executable, "/mnt/main.py"], *options, "--cap-drop", "ALL", "--bind", str(tmp_path), "/mnt"
    )
    assert done.returncode == 0, done.stderr
    assert "Operation not permitted" not in done.stderr and "not implemented" not in done.stderr


@pytest.mark.parametrize(
    ("error", "said"),
    [
        pytest.param(ImportError("No module"), "pip", id="no package"),
        pytest.param(RuntimeError("Unable to find libseccomp"), "libseccomp2", id="no library"),
        pytest.param(OSError(errno.EINVAL, "Invalid argument"), "libseccomp2", id="too old a library"),
    ],
)
def test_without_its_library_it_says_so(error: Exception, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> bytes:
        raise error

    monkeypatch.setattr(seccomp, "filter_program", fail)
    seccomp.problem.cache_clear()
    try:
        assert not seccomp.available()
        assert said in seccomp.problem()
    finally:
        seccomp.problem.cache_clear()
