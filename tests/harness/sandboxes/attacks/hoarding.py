"""Attacks that take more memory than the sandbox has, in every way that the kernel has to hold some.

Each ends by itself where nothing holds. A program that gets through says ``ESCAPED``.
"""

from tests.harness.sandboxes.attacks.catalogue import Attack, Kind

#: Memory: refused, or the run or its sandbox is ended.
_NO_MEMORY = ("exit 0", "exit 1", "over memory", "killed 9", "lost")
_TAKE = """
import mmap, signal, time
BLOCK, TOTAL = 32 << 20, 1536 << 20
def take(size=TOTAL):
    blocks = []
    for _ in range(size // BLOCK):
        block = mmap.mmap(-1, BLOCK, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        block.write(b'x' * BLOCK)
        blocks.append(block)
        time.sleep(0.01)
    return blocks
"""


def _memory(name: str, code: str) -> Attack:
    return Attack(name, Kind.EXHAUST, _TAKE + code, ends=_NO_MEMORY)


ATTACKS = (
    _memory("memory, one process", "take(); print('ESCAPED')"),
    _memory(
        "memory, many processes",
        """
for number in range(10):
    if os.fork() == 0:
        blocks = take(160 << 20)
        open(f'holds{number}', 'w')
        time.sleep(20)
time.sleep(2.5)
if sum(name.startswith('holds') for name in os.listdir()) > 3:
    print('ESCAPED')
""",
    ),
    _memory(
        "memory, shared between processes",
        """
block = mmap.mmap(-1, TOTAL)
for start in range(0, TOTAL, BLOCK):
    block[start:start + BLOCK] = b'x' * BLOCK
    time.sleep(0.01)
print('ESCAPED')
""",
    ),
    _memory(
        "memory, files that have no name",
        """
files = []
for _ in range(TOTAL // BLOCK):
    files.append(os.memfd_create('hidden'))
    os.write(files[-1], b'x' * BLOCK)
    time.sleep(0.01)
print('ESCAPED')
""",
    ),
    _memory(
        "memory, files in memory",
        """
block = b'x' * (8 << 20)
for folder in ('.', '/tmp', '/dev/shm'):
    try:
        for i in range(100):
            open(f'{folder}/{i}', 'wb').write(block)
    except OSError as error:
        print(error.strerror)
take(288 << 20)
print('ESCAPED')
""",
    ),
    _memory(
        "memory, buffers of sockets",
        """
import socket
pairs, taken, block = [], 0, b'x' * 65536
try:
    while taken < TOTAL:
        pairs.append(socket.socketpair())
        for end in pairs[-1]:
            end.setblocking(False)
            try:
                while True:
                    taken += end.send(block)
            except BlockingIOError:
                pass
except OSError as error:
    print('refused', error.strerror)
time.sleep(0.5)
if taken > 512 << 20:
    print('ESCAPED', taken)
""",
    ),
    _memory(
        "memory, buffers of pipes",
        """
pipes, taken = [], 0
try:
    while taken < TOTAL:
        pipes.append(os.pipe())
        os.set_blocking(pipes[-1][1], False)
        taken += os.write(pipes[-1][1], b'x' * (1 << 20))
except OSError as error:
    print('refused', error.strerror)
time.sleep(0.5)
if taken > 512 << 20:
    print('ESCAPED', taken)
""",
    ),
    _memory(
        "memory, with the parent stopped so that it cannot look",
        """
try:
    os.kill(os.getppid(), signal.SIGSTOP)
except PermissionError:
    print('refused')
try:
    take()
    print('ESCAPED')
finally:
    os.kill(os.getppid(), signal.SIGCONT)
""",
    ),
)
