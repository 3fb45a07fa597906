"""The harness's side of a warm parent, with a parent that does not do as agreed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from harness.errors import SandboxLost
from harness.sandboxes.base import MIB, FileRefused, Limits, SandboxSpec
from harness.sandboxes.process import Process
from harness.sandboxes.warm import channel, parent
from harness.sandboxes.warm.channel import PipeChannel
from harness.sandboxes.warm.parent import WarmSandbox, kill_started_sandboxes

GOOD = {
    "exit_code": 0,
    "output": "hi\n",
    "output_bytes": 3,
    "seconds": 0.1,
    "timed_out": False,
    "over": None,
}
#: Says that it is ready, and answers each request with the next of its arguments, read from files.
SCRIPT = """
import json, os, sys, time
requests, replies = int(sys.argv[1]), int(sys.argv[2])
lines = os.fdopen(requests, 'rb')
os.write(replies, b'{"ready": true}\\n')
for path in sys.argv[3:]:
    request = json.loads(lines.readline())
    lines.read(request.get('size', 0))
    answer = open(path, 'rb').read()
    while answer:
        answer = answer[os.write(replies, answer):]
time.sleep(60 if sys.argv[3:] else 0)
"""


class Fake:
    """Makes sandboxes whose parent gives prepared answers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.stopped = 0

    def answering(self, *answers: bytes) -> WarmSandbox:
        paths = []
        for number, answer in enumerate(answers):
            paths.append(str(self._folder / str(number)))
            Path(paths[-1]).write_bytes(answer)
        return self.running(SCRIPT, *paths)

    def running(self, script: str, *arguments: str) -> WarmSandbox:
        def command(requests: int, replies: int) -> list[str]:
            return [sys.executable, "-c", script, str(requests), str(replies), *arguments]

        def stop() -> None:
            self.stopped += 1

        spec = SandboxSpec((), "/", Limits(seconds=1.0, output_bytes=1000))
        return WarmSandbox(spec, lambda: PipeChannel(command, {}), python=sys.executable, on_stop=stop)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    monkeypatch.setattr(parent, "GRACE_SECONDS", 1.0)
    monkeypatch.setattr(parent, "START_SECONDS", 10.0)
    monkeypatch.setattr(channel, "STALL_SECONDS", 1.0)
    return Fake(tmp_path)


def changed(**values: object) -> bytes:
    return json.dumps({**GOOD, **values}).encode() + b"\n"


def test_an_answer_as_agreed_is_a_result(fake: Fake) -> None:
    with fake.answering(changed(), changed(exit_code=-9), changed(exit_code=None, over="memory")) as sandbox:
        assert sandbox.run(["true"]).output == "hi\n"
        assert sandbox.run(["true"]).exit_code == -9
        assert sandbox.run(["true"]).over == "memory"
    assert fake.stopped == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"not json\n",
        b"\xff\xfe\n",
        b"[]\n",
        b"null\n",
        b"{}\n",
        b"[" * 100_000 + b"\n",
        b"x" * (4 * MIB),
        changed(exit_code="0"),
        changed(exit_code=None),
        changed(exit_code=0.5),
        changed(exit_code=0, timed_out=True),
        changed(exit_code=0, over="memory"),
        changed(exit_code=None, over="the moon"),
        changed(exit_code=None, over=["memory"]),
        changed(output=None),
        changed(output=["x"]),
        changed(output_bytes="3"),
        changed(output_bytes=1e400),
        changed(seconds="0.1"),
        changed(timed_out=1),
        json.dumps({key: value for key, value in GOOD.items() if key != "over"}).encode() + b"\n",
        b'{"refused": "because", "message": "x"}\n',
        b'{"refused": "missing"}\n',
        b'{"refused": ["missing"], "message": "x"}\n',
    ],
)
def test_a_parent_that_speaks_another_language_is_a_lost_sandbox(fake: Fake, answer: bytes) -> None:
    with fake.answering(answer) as sandbox:
        with pytest.raises(SandboxLost, match=r"another language|without end"):
            sandbox.run(["true"])
        with pytest.raises(SandboxLost, match="has been stopped"):
            sandbox.run(["true"])
    assert fake.stopped == 1


@pytest.mark.parametrize("said", ['"\\ud800"', '"\\u001b[2J"', '"\\u0000"', '"a\\u202eb"'])
def test_output_is_text_that_can_be_written_and_printed_whatever_the_parent_says(
    fake: Fake, said: str
) -> None:
    answer = changed(output="TEXT").replace(b'"TEXT"', said.encode())
    with fake.answering(answer) as sandbox:
        output = sandbox.run(["true"]).output
    assert output.encode().decode() == output
    assert output == "" or output.isprintable()


@pytest.mark.parametrize("answer", [b'{"size": -1}\n', b'{"size": 11}\n', b'{"size": "3"}\n', b"{}\n"])
def test_a_size_that_was_not_asked_for_is_a_lost_sandbox(fake: Fake, tmp_path: Path, answer: bytes) -> None:
    with fake.answering(answer) as sandbox, pytest.raises(SandboxLost, match="another language"):
        sandbox.get("/x", tmp_path / "got" / "x", max_bytes=10)
    assert list((tmp_path / "got").iterdir()) == []


def test_a_file_that_ends_early_is_a_lost_sandbox_and_leaves_nothing(fake: Fake, tmp_path: Path) -> None:
    with fake.answering(b'{"size": 10}\nabc') as sandbox, pytest.raises(SandboxLost, match="gave no answer"):
        sandbox.get("/x", tmp_path / "got" / "x", max_bytes=10)
    assert list((tmp_path / "got").iterdir()) == []


def test_bytes_of_a_file_are_not_taken_for_an_answer(fake: Fake, tmp_path: Path) -> None:
    content = b'{"size": 1}\n\x00{"exit_code": 0}\n'
    head = json.dumps({"size": len(content)}).encode() + b"\n"
    with fake.answering(head + content, changed()) as sandbox:
        sandbox.get("/x", tmp_path / "x", max_bytes=100)
        assert (tmp_path / "x").read_bytes() == content
        assert sandbox.run(["true"]).ok


def test_a_file_that_cannot_be_kept_is_not_taken_for_answers(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills up while a file comes out must not let the file speak for the parent."""
    forged = (json.dumps(GOOD) + "\n").encode() * 3

    def full(self: object, path: str, stream: BinaryIO, max_bytes: int) -> None:
        stream.close()
        real(self, path, stream, max_bytes)

    real = WarmSandbox._receive_file
    monkeypatch.setattr(WarmSandbox, "_receive_file", full)
    sandbox = fake.answering(json.dumps({"size": len(forged)}).encode() + b"\n" + forged)
    with pytest.raises(ValueError, match="closed file"):
        sandbox.get("/x", tmp_path / "kept", max_bytes=MIB)
    with pytest.raises(SandboxLost):
        sandbox.run(["true"])
    assert not (tmp_path / "kept").exists()


def test_a_target_that_cannot_be_made_asks_nothing_of_the_parent(fake: Fake, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    sandbox = fake.answering((json.dumps(GOOD) + "\n").encode())
    with pytest.raises(OSError):
        sandbox.get("/x", tmp_path / "file" / "kept", max_bytes=MIB)
    assert sandbox.run(["true"]).ok


def test_a_refusal_names_its_reason_and_the_sandbox_goes_on(fake: Fake, tmp_path: Path) -> None:
    refused = b'{"refused": "missing", "message": "x is not there"}\n'
    with fake.answering(refused, changed()) as sandbox:
        with pytest.raises(FileRefused, match="x is not there"):
            sandbox.get("/x", tmp_path / "x", max_bytes=10)
        assert sandbox.run(["true"]).ok


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("raise SystemExit('no module named warm')", "the sandbox ended: no module named warm"),
        ("import os; os.kill(os.getpid(), 9)", "the sandbox ended"),
        ("import os, sys; os.close(int(sys.argv[2])); os.close(int(sys.argv[1]))", "the sandbox ended"),
        (
            "print('\\x1b[2J' * 10_000); import sys; sys.stderr.write('\\x1b[31mred' * 10_000); sys.exit(1)",
            "ended: red",
        ),
    ],
)
def test_a_parent_that_does_not_start_says_why(fake: Fake, script: str, said: str) -> None:
    with fake.running(script) as sandbox, pytest.raises(SandboxLost, match=said) as lost:
        sandbox.run(["true"])
    assert "\x1b" not in str(lost.value)
    assert len(str(lost.value)) < 5_000


def test_a_parent_that_says_nothing_is_waited_for_a_bounded_time(fake: Fake) -> None:
    started = time.monotonic()
    with fake.answering(b"") as sandbox, pytest.raises(SandboxLost, match="gave no answer"):
        sandbox.run(["true"])
    assert time.monotonic() - started < 20


def test_a_parent_that_takes_nothing_is_not_waited_for_without_end(fake: Fake) -> None:
    deaf = "import os, sys, time; os.write(int(sys.argv[2]), b'{\"ready\": true}\\n'); time.sleep(60)"
    started = time.monotonic()
    with fake.running(deaf) as sandbox, pytest.raises(SandboxLost):
        sandbox.put(bytes(MIB), "/x")
    assert time.monotonic() - started < 20


def test_a_parent_that_drips_its_answer_is_not_waited_for_without_end(fake: Fake) -> None:
    dripping = (
        "import os, sys, time\nos.write(int(sys.argv[2]), b'{\"ready\": true}\\n')\n"
        "for _ in range(600): os.write(int(sys.argv[2]), b' '); time.sleep(0.1)"
    )
    started = time.monotonic()
    with fake.running(dripping) as sandbox, pytest.raises(SandboxLost, match="gave no answer"):
        sandbox.run(["true"])
    assert time.monotonic() - started < 20


@pytest.fixture
def running() -> Iterator[WarmSandbox]:
    """A real sandbox, in whose first run another thread interferes."""
    sandbox = Process().start(SandboxSpec((), "/mlesmith/work", Limits(seconds=30.0)))
    assert isinstance(sandbox, WarmSandbox)
    sandbox.run(["true"])
    yield sandbox
    sandbox.stop()


def test_what_a_run_started_ends_with_a_killed_sandbox(running: WarmSandbox, tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    script = f"while true; do echo >> {beat}; sleep 0.05; done & sleep 30"
    killer = threading.Thread(target=lambda: (_wait_for(beat), running.kill()))
    killer.start()
    with pytest.raises(SandboxLost):
        running.run(["sh", "-c", script])
    killer.join()
    running.stop()
    size = beat.stat().st_size
    time.sleep(0.5)
    assert beat.stat().st_size == size


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)


def test_a_lower_limit_of_the_machine_is_kept(tmp_path: Path) -> None:
    """And is no failure of the program."""
    code = (
        "import resource, sys\nfrom pathlib import Path\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512))\n"
        "from harness.sandboxes.base import SandboxSpec\nfrom harness.sandboxes.process import Process\n"
        "with Process().start(SandboxSpec((), '/mlesmith/work')) as sandbox:\n"
        "    print(sandbox.run(['sh', '-c', 'ulimit -n']).output)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "512", done.stderr


def test_another_thread_can_end_a_run(running: WarmSandbox) -> None:
    threading.Timer(0.3, running.kill).start()
    started = time.monotonic()
    with pytest.raises(SandboxLost, match="the sandbox ended"):
        running.run(["sleep", "30"])
    assert time.monotonic() - started < 15


def test_an_interrupted_job_ends_all_its_sandboxes(running: WarmSandbox) -> None:
    with Process().start(SandboxSpec((), "/mlesmith/work")) as other:
        other.run(["true"])
        kill_started_sandboxes()
        for sandbox in (running, other):
            with pytest.raises(SandboxLost):
                sandbox.run(["true"])


def test_a_sandbox_that_is_never_used_starts_nothing() -> None:
    def connect() -> PipeChannel:
        raise AssertionError("started")

    with WarmSandbox(SandboxSpec((), "/"), connect, python=sys.executable) as sandbox:
        sandbox.remove("/x")
        sandbox.clear()
        sandbox.kill()
