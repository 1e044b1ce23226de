"""Two answers that know the words and nothing of the question."""

DROPPED = {
    "a list": "memory bandwidth, cache, shared memory, streams, warps, occupancy, latency, coalescing",
    "sentences": """
It is all about memory bandwidth and the cache, because global memory is slow. There are too few
warps for the latency, so I would raise the occupancy and use more threads. The data should be in
shared memory, and the reads of it have to be coalesced. Then I would put it into several streams,
with more registers for each of the blocks, and let the compiler do the rest of it.
    """,
}
