"""Streams and events."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.emulator.pycuda_api import driver

pytestmark = pytest.mark.usefixtures("gpu")


def test_streams_are_always_done() -> None:
    first, second = driver.Stream(), driver.Stream(1)
    assert first.handle != second.handle
    first.synchronize()
    assert first.is_done()
    second.wait_for_event(driver.Event().record(first))


def test_events_take_the_hosts_time() -> None:
    start, end = driver.Event(), driver.Event()
    assert start.record() is start
    driver.to_device(bytes(1000))
    end.record(driver.Stream()).synchronize()
    assert end.query()
    elapsed = start.time_till(end)
    assert 0 < elapsed < 10_000
    assert end.time_since(start) == elapsed


def test_events_that_have_no_time() -> None:
    recorded, never = driver.Event().record(), driver.Event()
    untimed = driver.Event(driver.event_flags.DISABLE_TIMING).record()
    for event in (never, untimed):
        with pytest.raises(driver.LogicError, match="cuEventElapsedTime failed: invalid resource handle"):
            event.time_since(recorded)


@pytest.mark.parametrize(
    "call",
    [
        lambda: driver.Event().record(3),
        lambda: driver.memcpy_htod_async(driver.mem_alloc(4), b"abcd", 3),
        lambda: driver.Stream().wait_for_event(3),
    ],
)
def test_what_is_no_stream_is_refused(call: Any) -> None:
    with pytest.raises(TypeError):
        call()


def test_asynchronous_copies() -> None:
    stream = driver.Stream()
    source = driver.pagelocked_empty(16, np.int32)
    source[:] = range(16)
    target = driver.pagelocked_zeros(16, np.int32)
    allocation = driver.mem_alloc(source.nbytes)
    driver.memcpy_htod_async(allocation, source, stream)
    driver.memcpy_dtoh_async(target, allocation, stream)
    stream.synchronize()
    assert (source == target).all()
