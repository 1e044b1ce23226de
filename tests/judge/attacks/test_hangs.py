"""A schedule keeps the grader waiting: it loops, closes its pipe and lives on, or answers by halves."""

from __future__ import annotations

import time

import pytest
from attacking import attack, each_protection

from grader.judge.child.process import ChildDied, ChildTimeout

# The schedules sleep for 1,000 s and the child has 0.8 s; the rest is for a busy machine, which starts a child slowly.
SOON_S = 100.0

WRITE = """
    import time
    for number in range(3, 64):
        try:
            {does}
        except OSError:
            pass
    time.sleep(1000)
"""


@each_protection
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("    while True: pass", ChildTimeout),
        (WRITE.format(does="os.close(number)"), ChildDied),
        (WRITE.format(does="os.write(number, b'\\x08\\0\\0')"), ChildTimeout),
        (WRITE.format(does="os.write(number, (9).to_bytes(8, 'little') + b'half')"), ChildTimeout),
        (
            "    import time\n    while True:\n"
            "        for number in range(3, 64):\n            try: os.write(number, b'\\0\\x10\\0\\0\\0\\0\\0\\0')\n"
            "            except OSError: pass\n        time.sleep(0.2)",
            ChildDied,
        ),
    ],
    ids=["loop", "closed pipe", "half a length", "half an answer", "noise"],
)
def test_the_clock_is_for_whole_messages(
    protection: str, body: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = time.monotonic()
    with pytest.raises((error, ChildTimeout)):
        attack(body, protection, monkeypatch, seconds=0.8)
    assert time.monotonic() - begun < SOON_S
