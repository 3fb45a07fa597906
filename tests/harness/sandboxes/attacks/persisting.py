"""Attacks that leave something behind for the next execution, which may be the grader's.

The working folder is meant to last, so what a program keeps there is no attack; that Python picks it up
unasked would be one.
"""

from tests.harness.sandboxes.attacks.catalogue import READ_ONLY, Attack, Kind

_CLEAN = "print('clean')"
_PAYLOAD = "PAYLOAD = \"print('INFECTED', flush=True)\\n\"\n"


def _leave(
    name: str, code: str, then: str = _CLEAN, *, denied: tuple[str, ...] = (), finds: str = "clean\n"
) -> Attack:
    return Attack(name, Kind.PERSIST, _PAYLOAD + code, denied, then=then, finds=finds)


ATTACKS = (
    _leave(
        "public data",
        """
attempt('append', lambda: write('/mlesmith/public/train.csv'))
attempt('new', lambda: write('/mlesmith/public/new'))
attempt('remove', lambda: os.unlink('/mlesmith/public/train.csv'))
attempt('rename', lambda: os.rename('/mlesmith/public/train.csv', '/mlesmith/public/other.csv'))
attempt('mode', lambda: os.chmod('/mlesmith/public/train.csv', 0o777))
attempt('time', lambda: os.utime('/mlesmith/public/train.csv'))
attempt('folder', lambda: os.rename('/mlesmith/public', '/mlesmith/other'))
attempt('truncate', lambda: os.truncate('/mlesmith/public/train.csv', 0))
attempt('attribute', lambda: os.setxattr('/mlesmith/public/train.csv', 'user.x', b'x'))
attempt('descriptor', lambda: write(f"/proc/self/fd/{os.open('/mlesmith/public/train.csv', os.O_RDONLY)}"))
""",
        denied=(*READ_ONLY, "EBUSY", "EXDEV", "EOPNOTSUPP"),
    ),
    _leave(
        "public data, by a shared mapping",
        """
import mmap
def change():
    with open('/mlesmith/public/train.csv', 'rb') as file:
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE)[:4] = b'XXXX'
attempt('map', change)
""",
        denied=READ_ONLY,
    ),
    _leave(
        "the interpreter and its library",
        """
import sysconfig
paths = [sys.executable, os.__file__, '/usr/bin/env', '/bin/sh', f"{sysconfig.get_path('stdlib')}/new.py"]
for path in paths:
    attempt(path, lambda: write(path))
""",
        denied=(*READ_ONLY, "ETXTBSY"),
    ),
    _leave(
        "what Python runs at its start",
        """
import site, sysconfig
folders = {sysconfig.get_path('purelib'), sysconfig.get_path('stdlib'), *site.getsitepackages(), sys.prefix}
for folder in folders:
    for name in ('sitecustomize.py', 'usercustomize.py', 'x.pth', 'python311._pth', 'pyvenv.cfg'):
        attempt(name, lambda: write(f'{folder}/{name}', PAYLOAD.encode()))
""",
        denied=READ_ONLY,
    ),
    _leave(
        "what Python runs at its start, at home",
        """
import site
for folder in (site.getusersitepackages(), os.path.expanduser('~'), '/tmp', '/mlesmith/work'):
    for name in ('sitecustomize.py', 'usercustomize.py'):
        try:
            os.makedirs(folder, exist_ok=True)
            open(f'{folder}/{name}', 'w').write(PAYLOAD)
            open(f'{folder}/x.pth', 'w').write('import sys; ' + PAYLOAD)
        except OSError:
            pass
""",
    ),
    _leave(
        "what a shell runs at its start",
        """
for name in ('.bashrc', '.profile', '.bash_profile', '.zshrc', '.pythonrc'):
    try:
        open(os.path.expanduser(f'~/{name}'), 'w').write('echo INFECTED')
    except OSError:
        pass
os.environ['BASH_ENV'] = os.path.expanduser('~/.bashrc')
""",
        "import subprocess; subprocess.run(['sh', '-lc', 'echo clean'])",
    ),
    _leave(
        "the system's configuration and our own scripts",
        """
for path in ('/etc/passwd', '/etc/ld.so.preload', '/etc/resolv.conf', '/etc/new', '/mlesmith/inside/warm.py',
             '/mlesmith/inside/new.py', '/mlesmith/inside/__pycache__/x', '/mlesmith/new', '/new', '/usr/new',
             '/usr/local/bin/python3', '/proc/sys/kernel/core_pattern', '/lib/new', '/dev/new'):
    attempt(path, lambda: write(path))
""",
        denied=READ_ONLY,
    ),
    _leave(
        "modules, built-in functions and hooks",
        """
import builtins, json, atexit, threading
builtins.print = json.dumps = open = None
sys.modules['csv'] = sys.modules['json']
sys.path.insert(0, '/tmp')
sys.meta_path.insert(0, None)
sys.excepthook = sys.displayhook = None
""",
        """
import csv, json, sys
print(json.dumps('clean') if csv is not json and None not in sys.meta_path else 'not')
""",
        finds='"clean"\n',
    ),
    _leave(
        "the environment, the folder, the mask and the limits",
        """
import resource
os.environ.update(PYTHONSTARTUP='/tmp/x.py', PYTHONPATH='/tmp', LD_PRELOAD='/tmp/x', HOME='/x')
LIBC.setenv(b'PYTHONPATH', b'/tmp', 1)
os.umask(0o777)
os.chdir('/')
resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))
os.nice(19)
""",
        """
import os, resource
print(os.getcwd(), os.umask(0), os.nice(0), resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 10, '/tmp' in
      os.environ.get('PYTHONPATH', ''), 'LD_PRELOAD' in os.environ)
""",
        finds="/mlesmith/work 18 0 True False False\n",
    ),
    _leave(
        "the parent's priority and processors",
        """
def state():
    return f'{os.getpriority(os.PRIO_PROCESS, 0)} {os.sched_getscheduler(0)} {os.sched_getaffinity(0)}'
open('before', 'w').write(state())
for pid in others():
    for change in (
        lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
        lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19),
        lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
        lambda: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0)),
        lambda: os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))}),
    ):
        try:
            change()
        except OSError:
            pass
""",
        """
import os
now = f'{os.getpriority(os.PRIO_PROCESS, 0)} {os.sched_getscheduler(0)} {os.sched_getaffinity(0)}'
print('clean' if now == open('before').read() else now)
""",
    ),
    _leave(
        "random numbers",
        "import random; random.seed(1); random.random(); LIBC.srand(1)",
        """
import random
state = random.getstate()
random.seed(1)
print('same' if state == random.getstate() else 'clean')
""",
    ),
    _leave(
        "temporary files and shared memory",
        """
from multiprocessing import shared_memory, resource_tracker
for folder in ('/tmp', '/dev/shm', '/var/tmp', '/run', '/run/lock', '/dev/mqueue'):
    for name in ('kept', '.kept', 'python', 'pip.conf'):
        try:
            os.makedirs(f'{folder}/{name}/deep')
            open(f'{folder}/{name}/deep/file', 'w').write('x')
            os.chmod(f'{folder}/{name}/deep', 0)
            os.chmod(f'{folder}/{name}', 0)
        except OSError:
            pass
memory = shared_memory.SharedMemory('left', create=True, size=100)
resource_tracker.unregister(memory._name, 'shared_memory')
""",
        """
import os, sys
found = [f'{folder}/{name}' for folder in ('/tmp', '/dev/shm', '/var/tmp', '/run', '/dev/mqueue')
         if os.path.isdir(folder) for name in os.listdir(folder) if name not in ('secrets',)]
print([path for path in found if not f'{sys.prefix}/'.startswith(f'{path}/')])  # Python may lie in /tmp
""",
        finds="[]\n",
    ),
    _leave(
        "System V segments, queues and semaphores",
        """
for create in (lambda: LIBC.shmget(7777, 100, 0o1666), lambda: LIBC.msgget(7777, 0o1666),
               lambda: LIBC.semget(7777, 1, 0o1666)):
    for _ in range(3):
        create()
""",
        """
import ctypes
libc = ctypes.CDLL(None)
print(libc.shmget(7777, 0, 0), libc.msgget(7777, 0), libc.semget(7777, 0, 0))
""",
        finds="-1 -1 -1\n",
    ),
    _leave(
        "message queues and keys of the kernel",
        """
import ctypes
queue = LIBC.syscall(240, b'left', 0o102, 0o600, None)  # mq_open
key = LIBC.syscall(248, b'user', b'left', b'x', 1, -4)  # add_key to the user's keyring
print('queue' if queue >= 0 else 'no queue', 'key' if key >= 0 else 'no key')
""",
        """
import ctypes
libc = ctypes.CDLL(None)
print(libc.syscall(240, b'left', 0, 0, None), libc.syscall(249, b'user', b'left', None, -4))
""",
        finds="-1 -1\n",
    ),
    _leave(
        "closed folders",
        "for folder in ('/tmp', '/dev/shm'):\n    try: os.chmod(folder, 0)\n    except OSError: pass",
        "open('/tmp/x', 'w'); open('/dev/shm/x', 'w'); print('clean')",
    ),
    _leave(
        "a listening socket",
        """
import socket, time
if os.fork() == 0:
    os.setsid()
    for address in (('127.0.0.1', 4444), '\\0left'):
        server = socket.socket(socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX)
        server.bind(address)
        server.listen()
        globals()[str(address)] = server
    time.sleep(30)
time.sleep(0.2)
""",
        """
import socket
for family, address in ((socket.AF_INET, ('127.0.0.1', 4444)), (socket.AF_UNIX, '\\0left')):
    try:
        socket.socket(family).connect(address)
        print('connected')
    except ConnectionRefusedError:
        print('refused')
""",
        finds="refused\nrefused\n",
    ),
    _leave(
        "a link in place of the next program",
        "os.unlink('main.py')\nos.symlink('/tmp/other.py', 'main.py')\nos.mkdir('main.py.part')",
    ),
    _leave("a folder in place of the next program", "os.unlink('main.py')\nos.makedirs('main.py/deep')"),
)
