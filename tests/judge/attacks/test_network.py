"""A schedule sends what it knows to somebody, or asks them."""

from __future__ import annotations

import pytest
from attacking import attack, each_protection

BODY = """
    import socket
    for family, kind in ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET6, socket.SOCK_DGRAM),
                         (socket.AF_UNIX, socket.SOCK_STREAM), (socket.AF_NETLINK, socket.SOCK_RAW)):
        try:
            socket.socket(family, kind)
            print('OPEN', family)
        except OSError as error:
            print('refused', error.errno)
"""


@each_protection
def test_no_socket(protection: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, printed = attack(BODY, protection, monkeypatch)
    assert printed.split("\n")[:4] == ["refused 1"] * 4
