"""What a capture takes: streams that join it, and that its first one waits for."""

import pytest

from grader.emulator.streams.captures import complaint
from grader.emulator.streams.commands import Fill, Place, Queued, RecordEvent, WaitForEvent


def work(stream: int) -> Queued:
    return Fill(Place(0, 0), b"\0", 4, stream, line=7)


FORK = (work(1), RecordEvent(0, 1), WaitForEvent(0, 2))
JOIN = (RecordEvent(1, 2), WaitForEvent(1, 1))


@pytest.mark.parametrize(
    "commands",
    [
        (),
        (work(1), work(1)),
        (*FORK, work(2), *JOIN),
        (*FORK, work(2), *JOIN, work(1)),
        (
            *FORK,
            work(2),
            RecordEvent(1, 2),
            WaitForEvent(1, 3),
            work(3),
            RecordEvent(2, 3),
            WaitForEvent(2, 1),
        ),
        (*FORK, RecordEvent(0, 1), work(2), RecordEvent(0, 2), WaitForEvent(0, 1)),  # one event, used again
        FORK,  # the second stream has no work of its own
    ],
)
def test_a_capture_whose_streams_come_together_is_taken(commands: tuple[Queued, ...]) -> None:
    assert complaint(1, commands) == ""


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        ((*FORK, work(2)), "ends before its first stream has waited"),
        ((*FORK, work(2), *JOIN, work(2)), "ends before its first stream has waited"),
        ((*FORK, *JOIN, work(2)), "ends before its first stream has waited"),
        ((*FORK, work(2), RecordEvent(1, 2), WaitForEvent(1, 3), work(3)), "ends before its first stream"),
        ((work(1), work(2)), "not part of the capture"),
        ((RecordEvent(0, 2), WaitForEvent(0, 1)), "not part of the capture"),
        ((WaitForEvent(0, 1), work(1)), "waits only for events that were recorded in it"),
    ],
)
def test_a_capture_that_cuda_refuses_is_refused(commands: tuple[Queued, ...], words: str) -> None:
    assert words in complaint(1, commands)
