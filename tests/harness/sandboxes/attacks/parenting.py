"""Attacks on the warm parent and on the init of the sandbox.

An attack may end its own sandbox. It must not get an answer in the parent's name, nor what the parent holds.
"""

from tests.harness.sandboxes.attacks.catalogue import Attack, Kind

#: Nothing happened, or the sandbox is gone; the program may have ended itself as well.
_LOST = ("exit 0", "exit 5", "killed 9", "timeout", "lost")
_HONEST = "^honest\n$"
_FORGED = """
forged = dict(exit_code=0, output='forged', output_bytes=6, seconds=0.1, timed_out=False, over=None)
forged = json.dumps(forged).encode() + b'\\n'
def honest():
    print('honest', flush=True)
    raise SystemExit(5)
"""


def _attack(name: str, code: str, **expected: object) -> Attack:
    return Attack(name, Kind.PARENT, code, **expected)  # type: ignore[arg-type]


ATTACKS = (
    _attack("kill it", "import signal, time\nos.kill(os.getppid(), 9)\ntime.sleep(1)", ends=_LOST),
    _attack(
        "stop it",
        "import time\nos.kill(os.getppid(), 19)\ntime.sleep(2)\nprint('ran on')",
        ends=_LOST,
        seconds=1,
    ),
    _attack(
        "every signal but those two",
        """
import signal, time
for number in sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT}):
    for pid in others():
        try:
            os.kill(pid, number)
        except OSError:
            pass
time.sleep(0.3)
""",
        ends=_LOST,
    ),
    _attack(
        "kill all",
        "import time\nos.fork()\nfor number in (19, 9): os.kill(-1, number)\ntime.sleep(1)",
        ends=(*_LOST, "exit 1"),
    ),
    _attack(
        "kill init",
        """
import time
for number in (1, 2, 3, 9, 11, 15, 19):
    try:
        os.kill(1, number)
    except PermissionError:
        pass
time.sleep(0.2)
print('init lives')
""",
        says="^init lives\n$",
    ),
    _attack(
        "trace it",
        """
import ctypes
for pid in others():
    attempt(pid, lambda: check(LIBC.ptrace(16, pid, None, None)))  # attach
    attempt(pid, lambda: check(LIBC.ptrace(0x4206, pid, None, None)))  # seize
""",
        denied=("EPERM", "ESRCH", "EACCES"),
    ),
    _attack(
        "write to its memory",
        """
for pid in others():
    for name in ('mem', 'clear_refs', 'oom_score_adj', 'uid_map', 'comm'):
        attempt((pid, name), lambda: write(f'/proc/{pid}/{name}', b'0'))
""",
        denied=("EACCES", "EPERM", "EROFS", "ENOENT", "EIO"),
    ),
    _attack(
        "answer for it through its open files",
        _FORGED
        + """
for pid in others():
    for fd in range(64):
        try:
            os.write(os.open(f'/proc/{pid}/fd/{fd}', os.O_WRONLY), forged)
            print('ESCAPED', pid, fd)
        except OSError:
            pass
honest()
""",
        ends=("exit 5",),
        says=_HONEST,
    ),
    _attack(
        "answer for it through descriptors of our own",
        _FORGED
        + """
for fd in range(3, 1024):
    try:
        os.write(fd, forged)
        print('ESCAPED', fd)
    except OSError:
        pass
honest()
""",
        ends=("exit 5",),
        says=_HONEST,
    ),
    _attack(
        "answer for it with the objects that the fork has copied",
        _FORGED
        + """
import gc
for thing in gc.get_objects():
    try:
        if type(thing).__name__ == 'Parent':
            thing.answer({'exit_code': 0, 'output': 'forged'})
            print('ESCAPED', thing)
        elif type(thing).__name__ == 'BufferedWriter' and thing.fileno() > 2:
            thing.write(forged)
            thing.flush()
            print('ESCAPED', thing)
    except (OSError, ValueError, AttributeError):
        pass
honest()
""",
        ends=("exit 5",),
        says=_HONEST,
    ),
    _attack(
        "answer for it on standard output",
        _FORGED + "os.write(1, b'\\n' + forged)\nos.write(2, forged)\nhonest()",
        ends=("exit 5",),
        says="(?s)forged.*forged.*honest\n$",
    ),
    _attack(
        "take its requests",
        "print([fd for fd in range(1024) if os.path.exists(f'/proc/self/fd/{fd}')])",
        says=r"^\[0, 1, 2\]\n$",
    ),
    _attack(
        "take its descriptors and its priority",
        """
import resource, time
for pid in others():
    for name in ('NOFILE', 'DATA', 'FSIZE', 'CPU', 'NPROC'):
        try:
            resource.prlimit(pid, getattr(resource, f'RLIMIT_{name}'), (1, 1))
        except (PermissionError, ProcessLookupError):
            pass
    try:
        os.setpriority(os.PRIO_PROCESS, pid, 19)
        os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
    except PermissionError:
        pass
print('done')
""",
        ends=_LOST,
    ),
    _attack(
        "send it signals as the owner of a file",
        """
import fcntl, socket, time
a, b = socket.socketpair()
fcntl.fcntl(a, fcntl.F_SETOWN, os.getppid())
fcntl.fcntl(a, 10, 9)  # F_SETSIG: SIGKILL
fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC)
b.send(b'x')
time.sleep(0.3)
""",
        ends=_LOST,
    ),
)
