"""Launches of a timed pass, whose buffers are others in each."""

import msgspec

from grader.judge.child.protocol import Launch, Pointer, Scalar, Tensor
from grader.judge.kernels.track import renamed

BOX = Tensor("A", "float16", (8, 64), (64,), (8, 64), 128, nan=False)


def test_all_that_names_a_buffer_is_renamed() -> None:
    launch = Launch(
        symbol="hgemm", grid=(1, 1, 1), block=(128, 1, 1), shared_bytes=0, zero=("C",), constant=(("filter", "A"),),
        args=(BOX, Pointer("A"), Pointer("C"), Scalar("int32", 8)),
    )  # fmt: skip
    found = renamed(launch, {"A": "A.2", "C": "C.2"})
    assert found.args == (
        msgspec.structs.replace(BOX, buffer="A.2"),
        Pointer("A.2"),
        Pointer("C.2"),
        Scalar("int32", 8),
    )
    assert (found.zero, found.constant) == (("C.2",), (("filter", "A.2"),))
