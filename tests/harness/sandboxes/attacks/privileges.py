"""Attacks on the kernel's boundaries: namespaces, mounts, capabilities, devices, control groups."""

from tests.harness.sandboxes.attacks.catalogue import FORBIDDEN, READ_ONLY, Attack, Kind


def _gain(name: str, code: str, denied: tuple[str, ...] = FORBIDDEN, *, says: str = "") -> Attack:
    return Attack(name, Kind.PRIVILEGE, code, () if says else denied, says=says)


def _calls(name: str, denied: tuple[str, ...] = FORBIDDEN, **calls: str) -> Attack:
    """System calls by name, with the number and arguments of each."""
    code = "import ctypes\nbuffer = (ctypes.c_char * 4096)()\n"
    return _gain(
        name,
        code + "\n".join(f"attempt({call!r}, lambda: syscall({a}))" for call, a in calls.items()),
        denied,
    )


ATTACKS = (
    _gain(
        "rights that it was started with",
        """
print(os.getuid() * os.getgid() > 0, len(os.getgroups()) < 2)
for line in open('/proc/self/status'):
    if line.startswith(('CapInh', 'CapPrm', 'CapEff', 'CapAmb', 'NoNewPrivs', 'Seccomp:')):
        print(*line.split())
""",
        says=r"^True True\n(Cap\w+: 0+\n){4}NoNewPrivs: 1\nSeccomp: 2\n$",
    ),
    _gain(
        "another user",
        """
for name in ('setuid', 'setgid', 'seteuid', 'setegid'):
    attempt(name, lambda: getattr(os, name)(0))
attempt('groups', lambda: os.setgroups([0]))
attempt('owner', lambda: os.chown('main.py', 0, 0))
""",
        ("EPERM", "EINVAL"),
    ),
    _gain(
        "programs that run as root",
        """
import glob, subprocess
for path in ('/bin/su', '/usr/bin/sudo', '/bin/mount', '/usr/bin/newgrp', '/usr/bin/passwd', '/usr/bin/chsh'):
    if os.path.exists(path):
        arguments = [path, '-c', 'id'] if path.endswith('su') else [path]
        run = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=4)
        print(path, 'uid=0' in run.stdout)
print('done')
""",
        says=r"^(/\S+ False\n)*done\n$",
    ),
    _gain(
        "a program of its own that sets its user",
        """
import shutil, subprocess
shutil.copy('/usr/bin/id', 'id')
os.chmod('id', 0o6755)
print(subprocess.run(['./id', '-u'], capture_output=True, text=True).stdout != '0\\n')
""",
        says="^True\n$",
    ),
    _gain(
        "capabilities",
        """
import ctypes
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
all_of_them = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
attempt('capset', lambda: syscall(126, header, all_of_them))
attempt('ambient', lambda: check(LIBC.prctl(47, 2, 21, 0, 0)))
attempt('bounding', lambda: check(LIBC.prctl(24, 21, 0, 0, 0)))
attempt('dumpable for suid', lambda: check(LIBC.prctl(4, 2, 0, 0, 0)))
""",
        ("EPERM", "EINVAL"),
    ),
    _gain(
        "new namespaces",
        """
for name, flag in dict(user=0x10000000, mount=0x20000, pid=0x20000000, net=0x40000000, ipc=0x8000000,
                       uts=0x4000000, cgroup=0x2000000, all=0x7E020000).items():
    attempt(name, lambda: check(LIBC.unshare(flag)))
""",
        ("EPERM", "ENOSPC", "EUSERS"),
    ),
    _gain(
        "a child in a new user namespace",
        """
import ctypes
def child(number, *arguments):
    pid = syscall(number, *arguments)
    if pid == 0:
        os._exit(0)
    return pid
attempt('clone', lambda: child(56, 0x10000000 | 17, 0, 0, 0, 0))
attempt('clone3', lambda: child(435, (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17), 88))
""",
        ("EPERM", "ENOSYS", "ENOSPC", "EUSERS"),
    ),
    _gain(
        "mounts",
        """
import ctypes
for source, target, kind, flags in (
    ('none', '/tmp', 'tmpfs', 0), ('proc', '/tmp', 'proc', 0), ('/', '/tmp', '', 4096), ('none', '/', '', 32),
    ('none', '/proc', '', 32), ('none', '/mlesmith/public', '', 32 | 4096), ('cgroup', '/tmp', 'cgroup', 0),
    ('/mlesmith/work', '/mlesmith/public', '', 8192), ('overlay', '/tmp', 'overlay', 0),
):
    words = source.encode(), target.encode(), kind.encode()
    attempt((source, target), lambda: check(LIBC.mount(*words, flags, None)))
attempt('umount', lambda: check(LIBC.umount2(b'/mlesmith/public', 2)))
""",
        ("EPERM", "EACCES"),
    ),
    _calls(
        "mounts, the new way",
        fsopen="430, b'tmpfs', 0",
        open_tree="428, -100, b'/', 1",
        move_mount="429, -100, b'/tmp', -100, b'/mlesmith/public', 0",
        fspick="433, -100, b'/', 0",
        mount_setattr="442, -100, b'/', 0, buffer, 32",
    ),
    _gain(
        "another root",
        """
os.mkdir('new')
attempt('chroot', lambda: os.chroot('new'))
attempt('pivot', lambda: syscall(155, b'new', b'new'))
attempt('chroot back', lambda: os.chroot('/proc/1/root'))
""",
        ("EPERM", "EACCES"),
    ),
    _calls(
        "the kernel's programs and events",
        bpf="321, 0, buffer, 72",
        bpf_program="321, 5, buffer, 72",
        perf="298, buffer, 0, -1, -1, 0",
        userfaultfd="323, 0",
        fanotify="300, 0, 0",
        io_uring="425, 8, buffer",
    ),
    _calls(
        "the machine",
        ("EPERM", "ENOSYS", "ENOENT", "EACCES"),
        reboot="169, 0xfee1dead, 672274793, 0x1234567, None",
        swapon="167, b'/mlesmith/work/main.py', 0",
        settimeofday="164, buffer, None",
        clock="227, 0, buffer",
        hostname="170, b'attacked', 8",
        acct="163, b'/mlesmith/work/main.py'",
        module="175, buffer, 4096, b''",
        kexec="246, 0, 0, None, 0",
        ports="172, 3",
        quota="179, 0x80000700, b'/dev/sda', 0, buffer",
    ),
    _calls(
        "keys of the kernel",
        ("EPERM", "ENOSYS", "EACCES"),
        add_key="248, b'user', b'attack', b'x', 1, -4",
        request_key="249, b'user', b'attack', None, -4",
        join="250, 1, None",
        link="250, 8, -4, -3",
    ),
    _gain(
        "typing into the terminal",
        """
import fcntl, termios
for fd in (0, 1, 2):
    attempt(fd, lambda: fcntl.ioctl(fd, termios.TIOCSTI, b'x'))
    attempt(fd, lambda: fcntl.ioctl(fd, 0x541C, b'\\3'))
attempt('tty', lambda: write('/dev/tty'))
attempt('console', lambda: write('/dev/console'))
""",
        ("EPERM", "ENOTTY", "ENXIO", "ENOENT", "EACCES", "EROFS", "EINVAL"),
    ),
    _gain(
        "devices",
        """
import stat
for name, major, minor in (('null', 1, 3), ('mem', 1, 1), ('sda', 8, 0), ('kmsg', 1, 11), ('tun', 10, 200)):
    attempt(name, lambda: os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(major, minor)))
for name in ('kmsg', 'mem', 'sda', 'vda', 'fuse', 'kvm', 'net/tun', 'loop-control', 'vhost-net'):
    attempt(name, lambda: write(f'/dev/{name}'))
""",
        READ_ONLY,
    ),
    _gain(
        "everything in /proc, /sys and /dev that can be written",
        """
found = []
usual = 'null zero full random urandom tty ptmx stdin stdout stderr'.split()
for top in ('/proc', '/sys', '/dev'):
    for path, folders, names in os.walk(top):
        if path == '/proc':
            folders[:] = [name for name in folders if not name.isdigit() and 'self' not in name]
        if path == '/dev':
            folders[:] = [name for name in folders if name not in ('shm', 'pts', 'fd', 'mqueue')]
        for name in names:
            if top == '/dev' and name in usual or 'self' in name:
                continue
            # What is hidden behind /dev/null takes what is written, and keeps nothing.
            hidden = os.lstat(f'{path}/{name}').st_rdev == os.makedev(1, 3)
            if os.access(f'{path}/{name}', os.W_OK) and not hidden:
                found.append(f'{path}/{name}')
        if os.access(path, os.W_OK):
            found.append(path)
print('writable:', found)
""",
        says=r"writable: \[\]",
    ),
    _gain(
        "settings of the kernel",
        """
for path in ('/proc/sysrq-trigger', '/proc/sys/kernel/core_pattern', '/proc/sys/vm/drop_caches',
             '/proc/sys/kernel/domainname', '/proc/sys/fs/binfmt_misc/register', '/proc/irq/0/smp_affinity',
             '/proc/sys/user/max_user_namespaces', '/sys/kernel/uevent_helper', '/sys/power/state',
             '/proc/self/oom_score_adj', '/proc/self/attr/current'):
    attempt(path, lambda: write(path, b'-1'))
""",
        (*READ_ONLY, "EINVAL"),
    ),
    _gain(
        "control groups",
        """
import glob
top = '/sys/fs/cgroup'
paths = [f'{top}/cgroup.procs', f'{top}/memory/release_agent', f'{top}/rdma/release_agent',
         f'{top}/memory.max', f'{top}/release_agent', f'{top}/memory/memory.limit_in_bytes',
         *glob.glob('/sys/fs/cgroup/**/cgroup.procs', recursive=True)[:20],
         *glob.glob('/sys/fs/cgroup/**/*max', recursive=True)[:20]]
for path in paths:
    attempt(path, lambda: write(path, b'0'))
attempt('mkdir', lambda: os.mkdir('/sys/fs/cgroup/escape'))
attempt('mkdir', lambda: os.mkdir('/sys/fs/cgroup/memory/escape'))
""",
        READ_ONLY,
    ),
    _gain(
        "real-time priority",
        """
attempt('fifo', lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)))
attempt('nice', lambda: os.nice(-20))
attempt('parent', lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), -20))
""",
        ("EPERM", "EACCES"),
    ),
)
