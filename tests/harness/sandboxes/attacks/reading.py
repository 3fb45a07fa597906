"""Attacks that read what is none of a program's business."""

from tests.harness.sandboxes.attacks.catalogue import FORBIDDEN, HIDDEN, Attack, Kind


def _read(
    name: str, code: str, denied: tuple[str, ...] = HIDDEN, *, says: str = "", control: bool = True
) -> Attack:
    return Attack(name, Kind.READ, code, () if says else denied, says=says, control=control)


ATTACKS = (
    _read("by path", "for path in HOST['secrets']: attempt(path, lambda: read(path))"),
    _read(
        "by paths relative to what is shown",
        """
for secret in HOST['secrets']:
    for start in ('.', '/mlesmith/public', '/tmp', '/proc/self'):
        attempt(start, lambda: read(start + '/..' * 12 + secret))
""",
    ),
    _read(
        "answers beside the public folder",
        """
for name in ('../private/test_answer.csv', '../task.toml', '../private', '../raw'):
    attempt(name, lambda: read('/mlesmith/public/' + name))
""",
        control=False,
    ),
    _read(
        "accounts, keys and home folders",
        """
for path in ('/etc/shadow', '/root/.ssh/id_rsa', '/root/.bashrc', '/root/.aws/credentials',
             '/home/../root/.netrc', '/var/log/dpkg.log', '/run/secrets', '/var/lib/docker'):
    attempt(path, lambda: read(path))
""",
        control=False,
    ),
    _read(
        "by a symbolic link",
        """
for i, path in enumerate(HOST['secrets']):
    os.symlink(path, f'link{i}')
    attempt(path, lambda: read(f'link{i}'))
""",
    ),
    _read(
        "by a hard link",
        """
for i, path in enumerate(HOST['secrets']):
    attempt(path, lambda: (os.link(path, f'hard{i}'), read(f'hard{i}')))
""",
    ),
    _read(
        "through the root and the folder of every process",
        """
for pid in [*others(), 'self', 'thread-self']:
    for place in ('root', 'cwd/../../../../../..', 'task/{}/root'.format(pid)):
        attempt(pid, lambda: read(f'/proc/{pid}/{place}' + HOST['secrets'][0]))
""",
    ),
    _read(
        "open files of other processes",
        """
for pid in others():
    attempt(pid, lambda: [read(f'/proc/{pid}/fd/{fd}') for fd in os.listdir(f'/proc/{pid}/fd')])
    attempt(pid, lambda: os.listdir(f'/proc/{pid}/map_files'))
""",
        ("EACCES", "EPERM", "ENOENT"),
        control=False,
    ),
    _read(
        "environments and memory of other processes",
        """
for pid in others():
    for name in ('environ', 'mem', 'maps', 'auxv'):
        attempt((pid, name), lambda: read(f'/proc/{pid}/{name}'))
""",
        ("EACCES", "EPERM", "ENOENT"),
    ),
    _read(
        "host paths in the command lines of other processes",
        "print('seen:', [pid for pid in others() if HOST['folder'] in read(f'/proc/{pid}/cmdline').decode()"
        " + open(f'/proc/{pid}/cmdline').read()])",
        says=r"seen: \[\]",
        control=False,
    ),
    _read(
        "the memory of a process by its number",
        """
import ctypes
for pid in (HOST['pid'], *others()):
    attempt(pid, lambda: syscall(310, pid, None, 0, None, 0, 0))  # process_vm_readv
    def descriptor():
        pidfd = os.pidfd_open(pid)
        return syscall(438, pidfd, 2, 0)  # pidfd_getfd
    attempt(pid, descriptor)
""",
        ("EPERM", "EACCES", "ESRCH", "ENOSYS", "EINVAL"),
        control=False,
    ),
    _read("the environment", "print('KEY' in str(os.environ), dict(os.environ))", says=r"^False "),
    _read("shared memory as files", "print('seen:', os.listdir('/dev/shm'))", says=r"seen: \[\]"),
    _read(
        "shared memory by name",
        """
import _posixshmem
attempt('shm', lambda: os.read(_posixshmem.shm_open('/' + HOST['shm'], os.O_RDONLY, mode=0), 30))
""",
    ),
    _read(
        "System V shared memory by number",
        """
import ctypes
def attach():
    LIBC.shmat.restype = ctypes.c_void_p
    address = LIBC.shmat(HOST['segment'], None, 0o10000)
    return check(-1) if address == ctypes.c_void_p(-1).value else ctypes.string_at(address, 30)
attempt('segment', attach)
""",
        ("EINVAL", "ENOSYS", "EPERM", "EIDRM"),
    ),
    _read(
        "files by their handle",
        """
import ctypes
import struct
handle = ctypes.create_string_buffer(struct.pack('IIQ', 8, 1, 2))  # the inode of a file system's root
folder = os.open('.', os.O_RDONLY)
attempt('root', lambda: syscall(304, folder, handle, os.O_RDONLY))  # open_by_handle_at
""",
        ("EPERM", "EACCES", "ENOSYS"),
        control=False,
    ),
    _read(
        "through io_uring",
        """
import ctypes
attempt('ring', lambda: syscall(425, 8, (ctypes.c_char * 120)()))
""",
        ("ENOSYS", "EPERM"),
        control=False,
    ),
    _read(
        "disks and the machine's memory",
        """
import stat
for name in 'sda sda1 vda nvme0n1 dm-0 loop0 mem kmem port kmsg fuse kvm nvidia0'.split():
    attempt(name, lambda: read(f'/dev/{name}'))
for major, minor in ((8, 0), (253, 0), (254, 0), (259, 0), (1, 1)):
    kind = stat.S_IFCHR if major == 1 else stat.S_IFBLK
    attempt((major, minor), lambda: (os.mknod('disk', kind | 0o600, os.makedev(major, minor)), read('disk')))
""",
        FORBIDDEN,
        control=False,
    ),
    _read(
        "names of files, everywhere",
        """
seen = []
for path, folders, names in os.walk('/'):
    if path == '/':
        folders[:] = [name for name in folders if name not in ('proc', 'sys', 'usr')]
    seen += [f'{path}/{name}' for name in names if 'planted' in name]
print('seen:', seen)
""",
        says=r"seen: \[\]",
        control=False,
    ),
    _read(
        "the neighbour's folder",
        """
import glob
for folder in ('/mlesmith/work', '..', '/tmp', '/dev/shm', '/mlesmith'):
    attempt(folder, lambda: read(f'{folder}/neighbour'))
print(glob.glob('/mlesmith/*/*') + glob.glob('/tmp/*'))
""",
        control=False,
    ),
    _read(
        "the kernel's log and its keys",
        """
import ctypes
buffer = (ctypes.c_char * 4096)()
attempt('log', lambda: syscall(103, 3, buffer, 4096))
attempt('ring', lambda: syscall(250, 0, -3, 1))  # keyctl: the id of the session's keyring
attempt('kcore', lambda: read('/proc/kcore'))
""",
        FORBIDDEN,
        control=False,
    ),
)
