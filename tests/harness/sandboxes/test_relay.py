"""The way out as programs inside a sandbox see it: usual clients reach allowed hosts, and nothing else does.

The sandbox is a bubblewrap without a network, as bare as can be, with the relay in it. It reaches the
loopback of this machine only since the tests list its address.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import socket
import ssl
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.sandboxes.network.egress import Connection, Egress, proxy_environment
from harness.sandboxes.warm.inside import relay
from tests.harness.sandboxes.websites import HERE, LARGE, serve


@pytest.fixture(scope="module")
def site() -> Iterator[int]:
    """The port of an HTTP server, which is also a package index."""
    name = "tiny-1.0-py3-none-any.whl"
    with serve({"/simple/tiny/": f'<a href="/{name}">{name}</a>'.encode(), f"/{name}": wheel()}) as port:
        yield port


def wheel() -> bytes:
    """A package ``tiny`` of one line."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("tiny.py", "VALUE = 7\n")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(
            "tiny-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    return data.getvalue()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of 127.0.0.1 and localhost with its key, in one file."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", f"subjectAltName=DNS:localhost,IP:{HERE}", "-keyout", "key", "-out", "cert"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    (folder / "both.pem").write_text((folder / "cert").read_text() + (folder / "key").read_text())
    return folder / "both.pem"


@pytest.fixture(scope="module")
def tls_site(certificate: Path) -> Iterator[int]:
    """The port of an HTTPS server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serve(context=context) as port:
        yield port


# Inside: start the relay as the warm parent does, then become the command.
RELAYED = """
import os, sys
sys.path.insert(0, "/mlesmith/inside")
import relay
private = os.pipe()  # as the warm parent's streams to the harness
listener = relay.listen(relay.PORT)
if os.fork() == 0:
    relay.serve(listener, "/mlesmith/egress.sock")
listener.close()
os.execvp(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture(scope="module")
def bwrap() -> list[str]:
    """Arguments of a sandbox without any network."""
    paths = {"/usr", "/bin", "/lib", "/lib64", "/etc", sys.prefix, sys.base_prefix}
    shown = [part for path in sorted(paths) for part in ("--ro-bind-try", path, path)]
    empty = ["--tmpfs", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp"]
    command = ["bwrap", "--unshare-all", "--die-with-parent", *empty, *shown]
    if not shutil.which("bwrap") or subprocess.run([*command, "true"], capture_output=True).returncode:
        pytest.skip("bubblewrap does not run here")
    return command


Inside = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def inside(bwrap: list[str], certificate: Path) -> Inside:
    """Runs a command in the sandbox of a proxy; ``/mlesmith/cert.pem`` holds the certificate."""

    def run(egress: Egress, *command: str) -> subprocess.CompletedProcess[str]:
        ours = [("--ro-bind", str(Path(relay.__file__).parent), "/mlesmith/inside"),
                ("--ro-bind", str(certificate), "/mlesmith/cert.pem"),
                ("--ro-bind", str(egress.socket), "/mlesmith/egress.sock")]  # fmt: skip
        variables = {"PATH": os.environ["PATH"], "HOME": "/tmp", **proxy_environment(egress.allow_hosts)}
        return subprocess.run(
            [*bwrap, *(part for mount in ours for part in mount), sys.executable, "-c", RELAYED, *command],
            env=variables, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    return run


URLLIB = "import sys, urllib.request as u; sys.stdout.write(u.urlopen(sys.argv[1]{}).read().decode())"
URLLIB_TLS = URLLIB.format(", context=__import__('ssl').create_default_context(cafile='/mlesmith/cert.pem')")
REQUESTS = (
    "import sys\ntry:\n import requests\nexcept ImportError:\n from pip._vendor import requests\n"
    "with requests.Session() as s:\n for _ in '12':\n"
    "  text = s.get(sys.argv[1], verify='/mlesmith/cert.pem').text\nsys.stdout.write(text)"
)
CLIENTS = {
    "urllib": [sys.executable, "-c", URLLIB_TLS],
    "requests": [sys.executable, "-c", REQUESTS],
    "curl": ["curl", "-sS", "--cacert", "/mlesmith/cert.pem"],
    "wget": ["wget", "-q", "-O-", "--ca-certificate=/mlesmith/cert.pem"],
}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_usual_clients_reach_an_allowed_host(
    scheme: str, client: str, inside: Inside, site: int, tls_site: int
) -> None:
    """A name is used for one and the address for the other: both are allowed here, as the list has both."""
    command = CLIENTS[client]
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    host, port = ("localhost", tls_site) if scheme == "https" else (HERE, site)
    with Egress([f"localhost:{tls_site}", f"{HERE}:{tls_site}", f"{HERE}:{site}"]) as egress:
        done = inside(egress, *command, f"{scheme}://{host}:{port}/")
        assert (done.returncode, done.stdout) == (0, "a page\n"), done.stderr
        assert [(c.host, c.port, c.allowed) for c in egress.connections] == [(host, port, True)]


def test_pip_installs_from_an_allowed_index(inside: Inside, site: int) -> None:
    with Egress([f"{HERE}:{site}"]) as egress:
        done = inside(
            egress, sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "download",
            "--no-cache-dir", "--index-url", f"http://{HERE}:{site}/simple", "tiny",
        )  # fmt: skip
        assert done.returncode == 0 and "Saved ./tiny-1.0-py3-none-any.whl" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "url", ["http://example.org/", "https://example.org/", "http://169.254.169.254/latest"]
)
@pytest.mark.parametrize("client", ["urllib", "curl"])
def test_a_host_that_is_not_listed_is_refused_with_the_option_that_lists_it(
    client: str, url: str, inside: Inside
) -> None:
    host, port = url.split("/")[2], 443 if url.startswith("https") else 80
    with Egress(["example.net", "*.example.org"]) as egress:
        flags = ["-v"] if client == "curl" else []
        done = inside(egress, *CLIENTS[client], *flags, url)
        assert "403" in done.stderr
        assert f"--allow-host {host}" in done.stderr
        assert egress.connections == (Connection(host, port, allowed=False, count=1),)


ESCAPES = {
    "TCP to the host": "socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)",
    "TCP to the metadata service": "socket.create_connection(('169.254.169.254', 80), 3)",
    "TCP to the internet": "socket.create_connection(('192.0.2.2', 443), 3)",
    "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.2', 53))",
    "IPv6": "socket.create_connection(('2001:db8::1', 443), 3)",
    "a name": "socket.getaddrinfo('example.org', 443)",
    "a raw packet": "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).sendto(b'x', ('192.0.2.2', 0))",
    "a Unix socket of the host": "socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')",
}


def test_many_downloads_at_once_all_arrive(inside: Inside, site: int) -> None:
    code = (
        "import concurrent.futures as c, hashlib, sys, urllib.request as u\n"
        "def get(_): return hashlib.sha256(u.urlopen(sys.argv[1]).read()).hexdigest()\n"
        "with c.ThreadPoolExecutor(20) as pool: print(*set(pool.map(get, range(40))))"
    )
    with Egress([f"{HERE}:{site}"]) as egress:
        done = inside(egress, sys.executable, "-c", code, f"http://{HERE}:{site}/large")
        assert done.stdout.strip() == hashlib.sha256(LARGE).hexdigest(), done.stderr


def test_once_the_proxy_has_gone_connections_end_at_once(inside: Inside) -> None:
    """The socket file that was shown inside stays; nobody listens behind it."""
    code = "import socket; s = socket.create_connection(('127.0.0.1', 3128), 20); print(s.recv(9))"
    with Egress(["example.org"]) as egress, socket.socket(socket.AF_UNIX) as nobody:
        egress.socket.unlink()
        nobody.bind(str(egress.socket))
        done = inside(egress, sys.executable, "-c", code)
        assert done.stdout == "b''\n", done.stderr


@pytest.mark.parametrize("way", ESCAPES)
def test_there_is_no_other_way_out(way: str, inside: Inside, site: int) -> None:
    """Even where any public host is allowed, and the very address by HTTP."""
    attempt = f"try:\n {ESCAPES[way]}\nexcept OSError as e:\n print('held', e)\nelse:\n print('OUT')"
    with Egress(["*", f"{HERE}:{site}"]) as egress:
        done = inside(egress, sys.executable, "-c", f"import socket, sys\n{attempt}", HERE, str(site))
        assert done.stdout.startswith("held"), done.stdout + done.stderr
        assert egress.connections == ()


def test_the_sandboxs_own_loopback_needs_no_proxy(inside: Inside) -> None:
    code = (
        "import http.server as h, threading as t, urllib.request as u\n"
        "s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler)\n"
        "t.Thread(target=s.serve_forever, daemon=True).start()\n"
        "print(u.urlopen(f'http://localhost:{s.server_port}/').status)"
    )
    with Egress(["example.org"]) as egress:
        done = inside(egress, sys.executable, "-c", code)
        assert done.stdout == "200\n", done.stderr
        assert egress.connections == ()


def test_nothing_of_the_harness_is_in_the_relay(inside: Inside) -> None:
    """Code inside runs as its user and can look into it: there are sockets, an epoll and /dev/null only."""
    code = (
        "import os, pathlib, time\ntime.sleep(0.5)\n"
        "for process in pathlib.Path('/proc').glob('[0-9]*'):\n"
        " if int(process.name) not in (1, os.getpid()):\n"
        "  print(sorted({os.readlink(fd).split(':')[0] for fd in (process / 'fd').iterdir()}))"
    )
    with Egress(["example.org"]) as egress:
        done = inside(egress, sys.executable, "-c", code)
        assert done.stdout == "['/dev/null', 'anon_inode', 'socket']\n", done.stderr


def test_the_variables_know_which_loopback_is_meant() -> None:
    usual = proxy_environment(["example.org"])
    assert usual["https_proxy"] == usual["HTTPS_PROXY"] == f"http://127.0.0.1:{relay.PORT}"
    assert usual["no_proxy"] == usual["NO_PROXY"] == "localhost,127.0.0.1,::1"
    assert proxy_environment(["127.0.0.1:8080"])["no_proxy"] == "localhost,::1"
