"""The file of exchanges: nothing is lost, it grows as the conversation does, and broken ones are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.models.wire.exchanges import Exchange, ExchangeWriter, Failure, _Body, read_exchanges


def exchange(
    number: int, request: bytes, response: bytes = b"{}", failure: Failure | None = None
) -> Exchange:
    return Exchange(
        number=number,
        time="2026-11-30T12:00:00.000+00:00",
        method="POST",
        url="http://127.0.0.1:8000/v1/chat/completions",
        request_headers={"content-type": "application/json"},
        request=request,
        status=None if failure else 200,
        response_headers={} if failure else {"content-type": "application/json"},
        response=b"" if failure else response,
        seconds=0.25,
        failure=failure,
    )


def write(path: Path, *exchanges: Exchange) -> Path:
    writer = ExchangeWriter(path)
    for item in exchanges:
        writer.write(item)
    writer.close()
    return path


def test_what_is_written_is_read_back_whole(tmp_path: Path) -> None:
    exchanges = [
        exchange(1, b'{"messages": ["a"], "model": "m"}'),
        exchange(
            2, '{"messages": ["a", "b\u2028é\ud83d\ude00"], "model": "m"}'.encode("utf-8", "surrogatepass")
        ),
        exchange(3, b"", failure=Failure(kind="ReadTimeout", text="no whole response within 1 s")),
        exchange(4, b"\xff\x00not text", response=b"\x80\x81"),
        exchange(5, b"\xff\x00not text either"),
    ]
    assert read_exchanges(write(tmp_path / "exchanges.jsonl", *exchanges)) == exchanges


@given(
    st.lists(st.one_of(st.binary(max_size=12), st.text("aé\u20ac", max_size=12).map(str.encode)), max_size=6)
)
def test_any_bodies_survive(bodies: list[bytes]) -> None:
    before = b""
    for body in bodies:
        assert _Body.model_validate_json(_Body.of(body, before).model_dump_json()).data(before) == body
        before = body


def test_only_what_a_request_adds_is_written(tmp_path: Path) -> None:
    tools = json.dumps({"tools": ["x" * 5000]})[1:]
    one = f'{{"messages": ["hello"], {tools}'.encode()
    two = f'{{"messages": ["hello", "more"], {tools}'.encode()
    lines = write(tmp_path / "exchanges.jsonl", exchange(1, one), exchange(2, two)).read_text().splitlines()
    written = json.loads(lines[2])["request"]
    assert written == {"same": 21, "tail": len(two) - 29, "text": ', "more"'}


def test_the_file_grows_as_the_conversation_does_and_not_as_its_square(tmp_path: Path) -> None:
    turn = "a turn of the conversation, " * 40

    def size(turns: int) -> int:
        bodies = (
            json.dumps({"messages": [turn + str(i) for i in range(n)], "model": "m"}) for n in range(turns)
        )
        exchanges = (exchange(n, body.encode()) for n, body in enumerate(bodies, start=1))
        return write(tmp_path / f"{turns}.jsonl", *exchanges).stat().st_size

    # Twice the turns are twice the bytes; whole bodies would be four times as many.
    assert size(80) / size(40) < 2.1


def test_a_last_line_that_a_crash_tore_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "exchanges.jsonl", exchange(1, b"one"), exchange(2, b"one two"))
    whole = path.read_bytes()
    for cut in (1, 40):
        path.write_bytes(whole[:-cut])
        assert read_exchanges(path) == [exchange(1, b"one")]
    path.write_bytes(b"")
    assert read_exchanges(path) == []


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (1, '{"schema_version": 7}', "line 1: schema_version 7 is unknown; this version reads 1"),
        (1, "[]", "line 1: schema_version None is unknown"),
        (2, '{"number": 1', "line 2: not valid JSON"),
        (2, "[" * 100_000, "line 2: not valid JSON"),
        (2, '{"number": 1}', "line 2: time"),
        (3, None, "line 3: a body repeats 9 + 0 bytes of 3"),
        (3, "base64", "line 3: a body"),
    ],
)
def test_a_broken_file_is_refused_by_line(tmp_path: Path, line: int, text: str | None, said: str) -> None:
    path = write(tmp_path / "exchanges.jsonl", exchange(1, b"one"), exchange(2, b"one two"))
    lines = path.read_text().splitlines()
    if line == 3:
        broken = {"same": 9} if text is None else {"base64": "no base64!"}
        text = json.dumps({**json.loads(lines[2]), "request": broken})
    lines[line - 1] = text or ""
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError) as caught:
        read_exchanges(path)
    assert f"{path}, {said}" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="jsonl: not found"):
        read_exchanges(tmp_path / "exchanges.jsonl")
