"""Bodies that are almost JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models.wire.bodies import clean, read_json


@pytest.mark.parametrize(
    ("body", "data"),
    [
        pytest.param(b'{"a": "\xc3\xa9"}', {"a": "é"}, id="plain"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}', {"a": 1}, id="byte order mark"),
        pytest.param('{"a": "é"}'.encode("utf-16"), {"a": "é"}, id="UTF-16"),
        pytest.param(b'["\\ud83d\\ude00"]', ["\N{GRINNING FACE}"], id="a pair of surrogates"),
        pytest.param(b'{"\\ud800": ["a\\udfffb"]}', {"?": ["a?b"]}, id="lone surrogates"),
    ],
)
def test_what_can_be_read_is(body: bytes, data: object) -> None:
    assert read_json(body) == data


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"<html>", id="a page"),
        pytest.param(b'{"a": 1', id="cut off"),
        pytest.param(b'["\xe9"]', id="Latin-1"),
        pytest.param(b"[NaN]", id="NaN"),
        pytest.param(b"[1e999]", id="beyond floats"),
        pytest.param(b"[" + b"9" * 5000 + b"]", id="beyond the digits Python reads"),
        pytest.param(b"[" * 100_000, id="nested too deeply"),
        pytest.param(b"data: {}\n\ndata: [DONE]\n\n", id="a stream of events"),
    ],
)
def test_all_else_is_one_error(body: bytes) -> None:
    with pytest.raises(ValueError):
        read_json(body)


@given(st.recursive(st.text(st.characters()) | st.floats() | st.integers(), st.lists))
def test_what_was_read_can_be_sent(data: object) -> None:
    try:
        read = read_json(json.dumps(data).encode())
    except ValueError:
        return
    json.dumps(read, ensure_ascii=False, allow_nan=False).encode()


@given(st.text(st.characters(blacklist_categories=())))
def test_any_text_can_be_sent_once_it_is_clean(text: str) -> None:
    clean(text).encode()
