"""Attacks that try to reach anything outside."""

from tests.harness.sandboxes.attacks.catalogue import FORBIDDEN, HIDDEN, Attack, Kind

NOWHERE = ("ENETUNREACH", "ECONNREFUSED", "EHOSTUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT")
_CONNECT = """
import socket
def talk(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as connection:
        connection.settimeout(1)
        connection.connect(address)
        connection.send(b'hello\\n')
        return connection.recv(100)
"""


def _reach(name: str, code: str, denied: tuple[str, ...] = NOWHERE, *, control: bool = False) -> Attack:
    return Attack(name, Kind.NETWORK, _CONNECT + code, denied, control=control)


ATTACKS = (
    _reach(
        "a service on the host's loopback by TCP",
        "attempt('tcp', lambda: talk(socket.AF_INET, ('127.0.0.1', HOST['tcp'])))",
        control=True,
    ),
    _reach(
        "a service on the host's loopback by UDP",
        "attempt('udp', lambda: talk(socket.AF_INET, ('127.0.0.1', HOST['udp']), socket.SOCK_DGRAM))",
        control=True,
    ),
    _reach(
        "the host by its other addresses",
        """
for address in HOST['addresses']:
    attempt(address, lambda: talk(socket.AF_INET, (address, HOST['tcp'])))
""",
    ),
    _reach(
        "the host by IPv6",
        "attempt('::1', lambda: talk(socket.AF_INET6, ('::1', HOST['tcp'], 0, 0)))\n"
        "attempt('mapped', lambda: talk(socket.AF_INET6, ('::ffff:127.0.0.1', HOST['tcp'], 0, 0)))",
    ),
    _reach(
        "public addresses",
        """
for address in ('1.1.1.1', '93.184.215.14'):
    for port in (53, 80, 443):
        attempt((address, port), lambda: talk(socket.AF_INET, (address, port)))
attempt('v6', lambda: talk(socket.AF_INET6, ('2606:4700:4700::1111', 443, 0, 0)))
""",
    ),
    _reach(
        "names",
        """
for name in ('example.org', 'localhost.localdomain', 'metadata.google.internal', 'secret.example.com'):
    attempt(name, lambda: socket.create_connection((name, 80), timeout=2))
""",
        ("gaierror", *NOWHERE),
    ),
    _reach(
        "a name server by UDP",
        """
query = b'\\x12\\x34\\x01\\0\\0\\1\\0\\0\\0\\0\\0\\0\\x07example\\x03org\\0\\0\\1\\0\\1'
def ask(server):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.settimeout(2)
        asker.connect((server, 53))
        asker.send(query)
        return asker.recv(512)
for server in ('8.8.8.8', '127.0.0.53', '127.0.0.11', '10.0.2.3', *HOST['addresses']):
    attempt(server, lambda: ask(server))
""",
    ),
    _reach(
        "the metadata of a cloud machine",
        """
import urllib.request
def fetch(url):
    try:
        return urllib.request.urlopen(url, timeout=2).read(100)
    except urllib.error.URLError as error:
        raise error.reason
for url in ('http://169.254.169.254/latest/meta-data/', 'http://[fd00:ec2::254]/latest/', 'http://100.100.100.200/'):
    attempt(url, lambda: fetch(url))
""",
    ),
    _reach(
        "a Unix socket by its path",
        """
for i, path in enumerate(HOST['sockets']):
    attempt(path, lambda: talk(socket.AF_UNIX, path))
    os.symlink(path, f'link{i}')
    attempt('link', lambda: talk(socket.AF_UNIX, f'link{i}'))
""",
        HIDDEN,
        control=True,
    ),
    _reach(
        "an abstract Unix socket",
        "attempt('abstract', lambda: talk(socket.AF_UNIX, '\\0' + HOST['abstract']))",
        control=True,
    ),
    _reach(
        "the container engine and the system's services",
        """
for path in ('/var/run/docker.sock', '/run/docker.sock', '/run/podman/podman.sock',
             '/run/containerd/containerd.sock', '/run/dbus/system_bus_socket', '/run/systemd/private',
             '/run/nscd/socket', '/tmp/.X11-unix/X0', HOST['engine'], f'/run/user/{os.getuid()}/bus'):
    attempt(path, lambda: talk(socket.AF_UNIX, path))
""",
        HIDDEN,
    ),
    _reach(
        "raw packets",
        """
attempt('icmp', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt('ip', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300))
""",
        ("EPERM", "EAFNOSUPPORT", "EPROTONOSUPPORT"),
    ),
    _reach(
        "the hypervisor by vsock",
        """
for host in (0, 1, 2):
    attempt(host, lambda: talk(socket.AF_VSOCK, (host, 1024)))
""",
        (
            "EAFNOSUPPORT",
            "EPERM",
            "ENODEV",
            "ECONNRESET",
            "EADDRNOTAVAIL",
            "ETIMEDOUT",
            "TimeoutError",
            *NOWHERE,
        ),
    ),
    _reach(
        "a new network interface",
        """
import struct
def add():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as link:
        name = struct.pack('HH', 8, 3) + b'br0\\0'
        info = struct.pack('HHHH', 16, 18, 11, 1) + b'bridge\\0\\0'
        body = struct.pack('BxHiII', 0, 0, 0, 0, 0) + name + info
        link.send(struct.pack('IHHII', 16 + len(body), 16, 0x605, 1, 0) + body)
        code = struct.unpack('i', link.recv(100)[16:20])[0]
        if code:
            raise OSError(-code, '')
attempt('bridge', add)
""",
        ("EPERM", "EOPNOTSUPP", "EAFNOSUPPORT", "EPROTONOSUPPORT"),
    ),
    _reach(
        "the network of another process",
        """
for pid in others():
    attempt(pid, lambda: LIBC.setns(os.open(f'/proc/{pid}/ns/net', os.O_RDONLY), 0x40000000) and check(-1))
""",
        FORBIDDEN,
    ),
)
