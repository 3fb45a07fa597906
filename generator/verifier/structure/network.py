"""Code of a task that talks to the network, which neither prepare.py nor metric.py ever has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from generator.defects.base import Finding
from generator.defects.registry import finding
from generator.verifier.structure.syntax import Source, excerpt, keyword, last_name, listed

#: Modules whose purpose is the network, as full names or their beginnings.
_MODULES = (
    "requests", "urllib.request", "urllib3", "httpx", "aiohttp", "http.client", "socket", "ssl", "ftplib",
    "smtplib", "imaplib", "telnetlib", "xmlrpc.client", "pycurl", "websocket", "websockets", "paramiko",
    "kaggle", "kagglehub", "opendatasets", "boto3", "botocore", "s3fs", "gcsfs", "adlfs", "google.cloud",
    "azure.storage", "huggingface_hub", "openml", "gdown", "wget", "openai", "anthropic", "google.genai",
    "selenium", "playwright", "scrapy", "tensorflow_datasets", "pandas_datareader", "yfinance", "ucimlrepo",
    "psycopg2", "pymysql",
)  # fmt: skip
_CALLS = re.compile(
    r"sklearn\.datasets\.fetch_\w+|datasets\.load_dataset|nltk\.download|seaborn\.load_dataset"
    r"|statsmodels\..*get_rdataset|torch\.hub\.\w+|(tensorflow\.)?keras\.(datasets\..*load_data|utils\.get_file)"
    r"|urllib\.request\.\w+|spacy\.cli\.download|.*\.from_pretrained|sentence_transformers\.SentenceTransformer"
)
_ADDRESS = re.compile(r"(?:https?|ftp|s3|gs|gcs|abfss?|hf)://.+", re.DOTALL)
_FETCHING = re.compile(r"read_\w+|open|urlopen|urlretrieve|get|download\w*|load\w*|imread")
_COMMAND = re.compile(
    r"(?:^|[;&|\s])(?:curl|wget|pip3? install|conda install|git clone|aws s3|gsutil|kaggle"
    r"|huggingface-cli|scp|rsync|apt(?:-get)? install)\s"
)
_SHELLS = ("os.system", "os.popen", "subprocess.")


def check_network(source: Source) -> Iterator[Finding]:
    """Imports and calls that need the network."""
    places = [
        (line, f"import of {name}")
        for name, line in source.modules()
        if any(name == module or name.startswith(f"{module}.") for module in _MODULES)
    ]
    places += [(call.lineno, excerpt(call)) for call in source.calls() if _fetches(source, call)]
    if places:
        yield finding(
            "uses_network",
            f"{source.name}: {listed(sorted(set(places)))}",
            "put what it fetches into raw/ and read it from there; there is no network",
        )


def _fetches(source: Source, call: ast.Call) -> bool:
    name = source.full_name(call.func)
    if _CALLS.fullmatch(name) and (source.is_imported(call.func) or name.endswith("from_pretrained")):
        return True
    download = keyword(call, "download")
    if isinstance(download, ast.Constant) and download.value is True:
        return True
    texts = list(_texts(call))
    if name.startswith(_SHELLS):
        return bool(_COMMAND.search(" ".join(texts) + " "))
    return bool(_FETCHING.fullmatch(last_name(call.func))) and any(_ADDRESS.match(text) for text in texts[:1])


def _texts(call: ast.Call) -> Iterator[str]:
    """The strings in the arguments of a call, not those of calls within."""
    waiting: list[ast.AST] = [*call.args, *(each.value for each in call.keywords)]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, (ast.List, ast.Tuple, ast.JoinedStr, ast.BinOp)):
            waiting[:0] = list(ast.iter_child_nodes(node))
