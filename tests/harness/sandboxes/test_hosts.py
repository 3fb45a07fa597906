"""Allow-lists: which patterns there are, what they match, and which addresses are never reached by a name."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.sandboxes.network.hosts import AllowList, check_hosts, is_public


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("example.net", "example.net"),
        ("Example.NET.", "example.net"),
        ("example.org:8443", "example.org:8443"),
        ("*.Hub.example", "*.hub.example"),
        ("*.example.org:8080", "*.example.org:8080"),
        ("*", "*"),
        ("*:8443", "*:8443"),
        ("mirror", "mirror"),
        ("under_score.example.org", "under_score.example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("10.0.0.7", "10.0.0.7"),
        ("10.0.0.7:3128", "10.0.0.7:3128"),
        ("FD00:0::7", "fd00::7"),
        ("[fd00::7]", "fd00::7"),
        ("[fd00::0007]:80", "[fd00::7]:80"),
    ],
)
def test_patterns_are_brought_to_one_form(written: str, normal: str) -> None:
    assert check_hosts([written]) == (normal,)
    assert check_hosts([normal]) == (normal,)


def test_the_list_is_sorted_and_names_each_once() -> None:
    assert check_hosts(["b.org", "a.org", "B.org", "b.org."]) == ("a.org", "b.org")
    assert check_hosts([]) == ()


@pytest.mark.parametrize(
    "pattern",
    [
        "", " ", "a b", " a.org", "a.org\n", "https://a.org", "a.org/simple", "user@a.org",
        "*a.org", "py*.org", "*.", "**", "*.*.org", ".org", "a..b", "-a.org", "a-.org", "a" * 64 + ".org",
        ".".join(["abcdefgh"] * 30), "a.org:", "a.org:0", "a.org:65536", "a.org:http",
        "a.org:-1", "a.org:٨٠", "127.1", "0x7f.0.0.1", "2130706433", "010.0.0.1.", "1.2.3.4.5",
        "*.0.0.1", "*.127.0.0.1", "127.0.0.1/8", "10.0.0.*", "[127.0.0.1]", "[::1", "[::1]x", "fe80::1%eth0",
        "::1::2", "a\0.org", "a\r\n.org",
    ],
)  # fmt: skip
def test_what_names_no_host_is_refused_with_the_forms_there_are(pattern: str) -> None:
    with pytest.raises(InputError) as caught:
        check_hosts(["good.org", pattern])
    assert repr(pattern) in str(caught.value)
    assert "`*.example.org`" in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "host", "port", "allowed"),
    [
        ("example.org", "example.org", 443, True),
        ("example.org", "example.org", 80, True),
        ("example.org", "example.org", 22, False),
        ("example.org", "www.example.org", 443, False),
        ("example.org", "notexample.org", 443, False),
        ("example.org", "example.org.evil.net", 443, False),
        ("example.org:8443", "example.org", 8443, True),
        ("example.org:8443", "example.org", 443, False),
        ("*.example.org", "www.example.org", 443, True),
        ("*.example.org", "a.b.example.org", 80, True),
        ("*.example.org", "example.org", 443, False),
        ("*.example.org", "notexample.org", 443, False),
        ("*", "anything.net", 443, True),
        ("*", "8.8.8.8", 443, True),
        ("*", "anything.net", 22, False),
        ("*:22", "anything.net", 22, True),
        ("10.0.0.7", "10.0.0.7", 80, True),
        ("10.0.0.7", "10.0.0.70", 80, False),
        ("fd00::7", "fd00::7", 443, True),
    ],
)
def test_what_a_pattern_allows(pattern: str, host: str, port: int, allowed: bool) -> None:
    assert AllowList([pattern]).allows_host(host, port) is allowed


def test_an_empty_list_allows_nothing() -> None:
    assert not AllowList([]).allows_host("example.org", 443)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "151.101.0.223", "2606:4700::1111", "2a04:4e42::223"]
)
def test_public_addresses(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


NOT_PUBLIC = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.8.8.8", "169.254.169.254", "172.16.0.1",
    "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1", "203.0.113.1",
    "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:169.254.169.254",
    "64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1",
    "2002:7f00:1::", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "ff0e::1",
]  # fmt: skip


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_other_addresses_are_reached_only_if_they_are_listed_themselves(address: str) -> None:
    """Neither ``*``, nor a domain, nor the very name that leads there, opens such an address."""
    found = ipaddress.ip_address(address)
    assert not AllowList(["*", "*.example.org", "example.org"]).allows_address(found, 443)
    assert AllowList([f"{found}"]).allows_address(found, 443)


def test_a_listed_address_is_open_on_its_port_only() -> None:
    allowed = AllowList(["mirror.lab:8080", "10.0.0.7:8080"])
    assert allowed.allows_address(ipaddress.ip_address("10.0.0.7"), 8080)
    assert not allowed.allows_address(ipaddress.ip_address("10.0.0.7"), 22)
    assert not allowed.allows_address(ipaddress.ip_address("10.0.0.8"), 8080)


@given(st.text(max_size=40))
def test_any_text_is_a_pattern_or_a_clear_error(text: str) -> None:
    try:
        (normal,) = check_hosts([text])
    except InputError:
        return
    assert check_hosts([normal]) == (normal,)
