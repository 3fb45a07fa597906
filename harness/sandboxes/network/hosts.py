"""Which hosts a sandbox may reach: the patterns of an allow-list, and what they match."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from harness.errors import InputError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

#: The ports of a pattern that names none.
DEFAULT_PORTS = (80, 443)

_FORM = (
    "write a host name such as `example.org`, `*.example.org` for what is below it, `*` for any public host, "
    "or an IP address; each may end in a port, as in `example.org:8443`"
)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Globally reachable unicast; what lies outside of it is local, reserved, or IPv4 in another dress (NAT64).
_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC = (
    ipaddress.IPv6Network("2002::/16"),  # 6to4, which holds an IPv4 address of the caller's choice
    ipaddress.IPv4Network("192.0.0.0/24"),  # special purposes, some of them reachable
)


@dataclass(frozen=True, order=True)
class Pattern:
    """One entry of an allow-list.

    Attributes:
        host: a name in lower case, an IP address in its usual form, ``*.`` and a name, or ``*``.
        port: the only port, or ``None`` for :data:`DEFAULT_PORTS`.
    """

    host: str
    port: int | None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a pattern.

        Raises:
            InputError: names the pattern and the forms there are.
        """
        try:
            host, port = split_port(text)
            if host == "*":
                return cls(host, port)
            if host.startswith("*."):
                name = normal_host(host[2:])
                if as_address(name):
                    raise ValueError("an IP address has no names below it")
                return cls(f"*.{name}", port)
            return cls(normal_host(host), port)
        except ValueError as error:
            raise InputError(f"{text!r} does not name hosts ({error}): {_FORM}") from error

    def matches(self, host: str, port: int) -> bool:
        """Whether the pattern allows a host, given in normal form."""
        if port != self.port if self.port else port not in DEFAULT_PORTS:
            return False
        # A domain is not one of the names below it, as in certificates.
        return self.host in ("*", host) or (self.host.startswith("*.") and host.endswith(self.host[1:]))

    def __str__(self) -> str:
        return self.host if self.port is None else join_port(self.host, self.port)


class AllowList:
    """The hosts and addresses that may be reached.

    A name is allowed by a pattern. The address that it leads to must then be public, or stand in the list
    itself: whoever owns a name can point it at a private address, such as a cloud's metadata service.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(Pattern.parse(text) for text in check_hosts(patterns))

    def allows_host(self, host: str, port: int) -> bool:
        """Whether a host, a name or an address in normal form, is in the list."""
        return any(pattern.matches(host, port) for pattern in self._patterns)

    def allows_address(self, address: Address, port: int) -> bool:
        """Whether an allowed host may be reached at this address."""
        return is_public(address) or any(
            pattern.host == str(address) and pattern.matches(str(address), port) for pattern in self._patterns
        )


def check_hosts(patterns: Iterable[str]) -> tuple[str, ...]:
    """The patterns of an allow-list in their normal form, sorted, each once.

    ``example.org`` allows that name, ``*.example.org`` all names below it but not itself, ``*`` any public
    host. A pattern without a port allows ports 80 and 443, one with a port only that. An address that is not
    public is allowed only by a pattern that is this address, even where a name that leads to it is allowed.

    Raises:
        InputError: names a pattern that cannot be read, and the forms there are.
    """
    return tuple(str(pattern) for pattern in sorted({Pattern.parse(text) for text in patterns}, key=str))


def split_port(text: str) -> tuple[str, int | None]:
    """The host and the port of ``host``, ``host:port``, ``[address]:port`` or an IPv6 address.

    Raises:
        ValueError: says what is wrong.
    """
    if "/" in text:
        raise ValueError("a URL is not a host")
    if text.startswith("["):
        inner, bracket, port = text[1:].partition("]")
        if (
            not bracket
            or not isinstance(as_address(inner), ipaddress.IPv6Address)
            or port[:1] not in ("", ":")
        ):
            raise ValueError("only an IPv6 address stands in brackets")
        host, colon, port = inner, port[:1], port[1:]
    elif text.count(":") > 1:
        return text, None
    else:
        host, colon, port = text.partition(":")
    if not colon:
        return host, None
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65_536:
        raise ValueError("a port is a number from 1 to 65535")
    return host, int(port)


def join_port(host: str, port: int) -> str:
    """``host:port``, with an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def normal_host(host: str) -> str:
    """A name in lower case ASCII without a final dot, or an IP address in its usual form.

    Raises:
        ValueError: it is neither; addresses in unusual forms, such as ``127.1``, are neither too.
    """
    if address := as_address(host):
        return str(address)
    if not host:
        raise ValueError("the host is missing")
    try:
        name = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError as error:
        raise ValueError("not a host name") from error
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("not a host name")
    if _NUMBER.fullmatch(labels[-1]):
        raise ValueError("not an IP address in its usual form")
    return name


def as_address(host: str) -> Address | None:
    """The IP address that ``host`` is in its usual form, without a zone; ``None`` when it is none."""
    try:
        return ipaddress.ip_address(host) if "%" not in host else None
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Whether an address is one of the open internet: not private, shared, local, reserved or multicast."""
    if any(address in network for network in _NOT_PUBLIC if network.version == address.version):
        return False
    if isinstance(address, ipaddress.IPv6Address) and address not in _PUBLIC_V6:
        return False
    return address.is_global and not address.is_multicast
