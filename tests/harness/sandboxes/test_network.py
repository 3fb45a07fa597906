"""Named hosts, reached from real sandboxes through the proxy."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.sandboxes.base import MIB, Limits, Sandbox, SandboxProvider, SandboxSpec

HERE, WORK = "127.0.0.1", "/mlesmith/work"
FETCH = """
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())
except urllib.error.URLError as error:
    print('refused', error)
"""
#: Ends every process that it may end: the relay is one.
KILL = """
import os, signal, time
for name in filter(str.isdigit, os.listdir('/proc')):
    if int(name) not in (1, os.getpid()):
        try:
            os.kill(int(name), signal.SIGKILL)
        except (PermissionError, ProcessLookupError):
            pass
time.sleep(0.5)
print('done')
"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"a page")

    def log_message(self, *_: object) -> None: ...


@contextmanager
def site() -> Iterator[int]:
    with http.server.ThreadingHTTPServer((HERE, 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(params=["sandbox", "docker_sandbox"])
def provider(request: pytest.FixtureRequest) -> SandboxProvider:
    found: SandboxProvider = request.getfixturevalue(request.param)
    return found


def run(sandbox: Sandbox, code: str, *arguments: str) -> str:
    sandbox.put(code.encode(), f"{WORK}/program.py")
    return sandbox.run_python(f"{WORK}/program.py", arguments).output.strip()


def opening(*hosts: str) -> SandboxSpec:
    return SandboxSpec((), WORK, Limits(seconds=30.0, memory_bytes=512 * MIB), allow_hosts=hosts)


def test_a_named_host_is_reached_and_no_other_and_both_are_recorded(provider: SandboxProvider) -> None:
    with site() as named, site() as other:
        with provider.start(opening(f"{HERE}:{named}")) as sandbox:
            assert run(sandbox, FETCH, f"http://{HERE}:{named}/") == "a page"
            assert "403" in run(sandbox, FETCH, f"http://{HERE}:{other}/")
            assert run(sandbox, FETCH, f"http://{HERE}:{named}/") == "a page"
        said = {(seen.host, seen.port, seen.allowed, seen.count) for seen in sandbox.connections}
    assert said == {(HERE, named, True, 2), (HERE, other, False, 1)}


def test_any_public_host_does_not_open_this_machine(provider: SandboxProvider) -> None:
    proxied = "import os; os.environ['no_proxy'] = os.environ['NO_PROXY'] = ''\n"
    with site() as port, provider.start(opening("*")) as sandbox:
        assert "Connection refused" in run(sandbox, FETCH, f"http://{HERE}:{port}/")
        assert "403" in run(sandbox, proxied + FETCH, f"http://{HERE}:{port}/")
        assert "403" in run(sandbox, FETCH, "http://169.254.169.254/latest/meta-data/")


def test_a_program_that_ends_the_way_out_costs_itself_the_network_and_nothing_else(
    sandbox: SandboxProvider,
) -> None:
    """Not in a container, where it would end the warm parent as well."""
    with site() as port, sandbox.start(opening(f"{HERE}:{port}")) as opened:
        opened.put(b"kept", f"{WORK}/kept")
        assert run(opened, KILL) == "done"
        assert run(opened, FETCH, f"http://{HERE}:{port}/") == "a page"
        assert "kept" in opened.run(["ls", WORK]).output
