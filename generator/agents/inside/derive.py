"""Runs an idea's ``table(raw)`` inside the sandbox and writes what it returns. A standalone script.

derive.py DERIVATION.py RAW OUT.csv
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def main(source: str, raw: str, out: str) -> None:
    """Run it; whatever is wrong ends the script with the reason as its last line."""
    import pandas as pd

    names: dict[str, Any] = {"__name__": "derivation"}
    exec(compile(Path(source).read_text(encoding="utf-8"), "derivation.py", "exec"), names)
    table = names["table"](Path(raw))
    if not isinstance(table, pd.DataFrame):
        sys.exit(f"table(raw) returned a {type(table).__name__}, not a pandas.DataFrame")
    table.to_csv(out, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:4])
