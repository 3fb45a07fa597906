"""Attacks that use up processes, files, output or time.

Each is bounded, and ends by itself where nothing holds. A program that gets through says ``ESCAPED``.
"""

from tests.harness.sandboxes.attacks.catalogue import Attack, Kind


def _flood(
    name: str, code: str, ends: tuple[str, ...] = ("exit 0",), says: str = "", seconds: float = 10
) -> Attack:
    return Attack(name, Kind.EXHAUST, code, ends=ends, says=says, seconds=seconds)


ATTACKS = (
    _flood(
        "processes, one parent",
        """
import time
children = 0
try:
    for children in range(400):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
    print('ESCAPED')
except BlockingIOError:
    print('refused after', children)
""",
        says=r"refused after \d{1,2}\n",
    ),
    _flood(
        "processes, every child a parent",
        """
import time
end = time.time() + 3
while time.time() < end:
    try:
        os.fork()
    except BlockingIOError:
        time.sleep(0.01)
time.sleep(30)
""",
        ("timeout", "lost"),
        seconds=2,
    ),
    _flood(
        "threads",
        """
import threading
wait, threads = threading.Event(), []
try:
    for _ in range(400):
        threads.append(threading.Thread(target=wait.wait, daemon=True))
        threads[-1].start()
    print('ESCAPED')
except RuntimeError:
    print('refused after', len(threads))
""",
        says=r"refused after \d{1,2}\n",
    ),
    _flood(
        "zombies",
        """
children = 0
try:
    for children in range(400):
        if os.fork() == 0:
            os._exit(0)
    print('ESCAPED')
except BlockingIOError:
    print('refused after', children)
""",
        says=r"refused after \d{1,2}\n",
    ),
    _flood(
        "disk",
        """
written, block = 0, b'x' * (1 << 20)
try:
    for i in range(512):
        written += open(f'file{i}', 'wb').write(block)
    print('ESCAPED')
except OSError as error:
    print(error.strerror)
""",
        ("exit 0", "over disk"),
        says="(?s)No space left|^$",
    ),
    _flood(
        "disk, by a deleted file",
        """
file = open('gone', 'wb')
os.unlink('gone')
try:
    for _ in range(512):
        file.write(b'x' * (1 << 20))
        file.flush()
    print('ESCAPED')
except OSError as error:
    print(error.strerror)
    os._exit(0)
""",
        ("exit 0", "over disk"),
        says="(?s)No space left|File too large|^$",
    ),
    _flood(
        "files without bytes",
        """
try:
    for i in range(20_000):
        open(f'file{i}', 'w').close()
    print('ESCAPED')
except OSError as error:
    print(error.strerror)
import time
time.sleep(3)
""",
        ("exit 0", "over files"),
        says="(?s)No space left|^$",
    ),
    _flood(
        "a sparse file of 10 GB",
        """
attempt('truncate', lambda: os.truncate(open('submission.csv', 'w').name, 10 << 30))
attempt('seek', lambda: os.pwrite(os.open('far', os.O_CREAT | os.O_WRONLY), b'x', 10 << 30))
attempt('allocate', lambda: os.posix_fallocate(os.open('big', os.O_CREAT | os.O_WRONLY), 0, 10 << 30))
""",
        says=r"truncate -> EFBIG\nseek -> EFBIG\nallocate -> (EFBIG|ENOSPC)\n",
    ),
    _flood(
        "folders in folders",
        """
for place in ('/tmp', '.', '/dev/shm'):
    os.chdir(place)
    try:
        for _ in range(1_500):
            os.mkdir('d')
            os.chdir('d')
    except OSError as error:
        print(error.strerror)
    os.chdir('/mlesmith/work')
""",
        ("exit 0", "over files"),
    ),
    _flood(
        "output, 60 MB",
        "block = b'x' * 99 + b'\\n'\nfor _ in range(60): os.write(1, block * 10_000)\nprint('last')",
        says=r"^x{99}\n(?s:.*)bytes left out(?s:.*)last\n$",
    ),
    _flood("output, without end", "while True: os.write(2, b'y' * 65536)", ("timeout",), "y{100}", seconds=1),
    _flood(
        "file descriptors",
        """
files = []
try:
    for _ in range(10_000):
        files.append(os.open('/dev/null', os.O_RDONLY))
    print('ESCAPED')
except OSError as error:
    print(error.strerror)
""",
        says="Too many open files",
    ),
    _flood(
        "processor time, several processes",
        "for _ in range(5): os.fork()\nwhile True: pass",
        ("timeout",),
        seconds=1,
    ),
    _flood(
        "time, asleep",
        "import time\nprint('so far')\ntime.sleep(60)",
        ("timeout",),
        "^so far\n$",
        seconds=0.5,
    ),
    _flood("time, stopped", "import signal; os.kill(os.getpid(), signal.SIGSTOP)", ("timeout",), seconds=0.5),
    _flood(
        "higher limits",
        """
import resource
for name in ('NPROC', 'NOFILE', 'FSIZE', 'DATA', 'CORE'):
    limit = getattr(resource, f'RLIMIT_{name}')
    try:
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print('ESCAPED', name, resource.getrlimit(limit))
    except (ValueError, PermissionError):
        print(name, 'refused')
""",
        says="(refused\n.*){4,5}",
    ),
)
