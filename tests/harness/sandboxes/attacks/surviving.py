"""Attacks that run on: after the program has ended, or after it was ended.

A survivor would lengthen ``beat`` in the working folder.
"""

from tests.harness.sandboxes.attacks.catalogue import Attack, Kind

_BEAT = """
import signal, time
def beat(seconds=20):
    end = time.time() + seconds
    while time.time() < end:
        with open('/mlesmith/work/beat', 'a') as file:
            file.write('.')
        time.sleep(0.01)
    os._exit(0)
def detach():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            beat()
        os._exit(0)
def wait():
    while not os.path.exists('/mlesmith/work/beat'):
        time.sleep(0.01)
"""
_THEN = """
import os, time
before = os.path.getsize('/mlesmith/work/beat')
time.sleep(0.15)
print('grown' if os.path.getsize('/mlesmith/work/beat') > before else 'dead')
"""


def _survive(name: str, code: str, end: str = "exit 0", seconds: float = 5) -> Attack:
    return Attack(name, Kind.SURVIVE, _BEAT + code, ends=(end,), then=_THEN, finds="dead\n", seconds=seconds)


ATTACKS = (
    _survive("a daemon, after the end", "detach()\nwait()"),
    _survive("a daemon, after the time limit", "detach()\nwait()\ntime.sleep(60)", "timeout", 0.7),
    _survive("a child that holds the output open", "os.fork() or beat()\nwait()\nprint('ended')"),
    _survive(
        "a program that ignores and blocks every signal",
        """
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
detach()
beat()
""",
        "timeout",
        0.7,
    ),
    _survive(
        "children that have children while they are killed",
        """
for _ in range(5):
    if os.fork() == 0:
        end = time.time() + 20
        while time.time() < end:
            try:
                if os.fork():
                    os._exit(0)
                os.setsid()
                open('/mlesmith/work/beat', 'a').write('.')
            except OSError:
                pass
wait()
""",
    ),
    _survive(
        "a sibling of the program",
        """
import ctypes
child = syscall(56, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0)  # clone with CLONE_PARENT
if child == 0:
    os.setsid()
    beat()
wait()
""",
    ),
    _survive(
        "a child that is stopped, and continued later",
        """
child = os.fork()
if child == 0:
    os.setsid()
    open('/mlesmith/work/beat', 'a').write('.')
    os.kill(os.getpid(), signal.SIGSTOP)
    beat()
wait()
if os.fork() == 0:
    os.setsid()
    time.sleep(0.2)
    os.kill(child, signal.SIGCONT)
    os._exit(0)
""",
    ),
    _survive(
        "a child that another child waits for",
        """
import ctypes
LIBC.prctl(36, 1, 0, 0, 0)  # adopt orphans
detach()
wait()
""",
    ),
    _survive(
        "a process that replaced its program",
        "os.fork() or os.execvp('sh', ['sh', '-c', 'while :; do echo . >> beat; sleep 0.02; done'])\nwait()",
    ),
)
