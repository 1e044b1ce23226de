"""Whether all blocks of a grid together can touch all of an array, by what some of them have touched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.emulator import metrics
from grader.judge.child.protocol import Launch, Record

FEWEST, ENOUGH = 3, 4
"""ENOUGH blocks, the first and the last among them, say what others do at most: where tiles are dealt out to a grid of
fixed size, some blocks have one more. FEWEST may all have had one tile where others have two. Of fewer, each may have
had what is left at an edge; the first block of a grid rarely has."""

NOT_DRAWN = 6
"""Of the blocks that are run, those at the ends of the grid; the others are drawn. Each comes with its cluster."""

SEVERAL = 32
"""Where blocks differ in which arrays they touch, so many have to be run: among fewer there may be none that does a
full share, as the last one may have less to do."""

CERTAIN = 9.0
"""Minus the logarithm of a probability that is taken for none; the bound it is held against is far from sharp."""

RANGES = (
    "An int holds numbers up to 2,147,483,647 only: form the whole of an index in size_t, by a cast of the first "
    "factor of each product."
)
PASSED = (
    "{index} has passed 2,147,483,647, where an int ends, and become negative: keep it in a size_t or long long, and "
    "convert before anything is added or multiplied, as in `size_t(blockIdx.x) * blockDim.x`."
)
OTHERWISE = (
    "Does an index overflow (an int holds numbers up to 2,147,483,647, an unsigned twice as many: form it in size_t), "
    "is there a fixed number of blocks, parts or steps, or do large sizes go a way of their own?"
)
BEYOND = (
    "An infinity is due, as {right} is larger than all numbers of the output's type: let the conversion round it, and "
    "keep nothing within a range."
)
COVER = (
    "Blocks that were not run are taken to do as much as the most that one of the others did, or twice that where "
    f"fewer than {ENOUGH} were run. Does the grid grow with "
    "the problem, or does every thread go on in a loop until all is done?"
)


@dataclass(frozen=True)
class _Share:
    """What blocks of one launch have touched of an array, in bytes."""

    blocks: int
    run: int
    most: int  # by one block
    together: int
    elsewhere: int  # blocks that were busy with other arrays
    cluster: int  # blocks that are run together

    @property
    def conclusive(self) -> bool:
        """Whether it says how much all blocks touch at most."""
        return self.run >= min(SEVERAL if self.elsewhere else FEWEST, self.blocks)

    @property
    def by_another(self) -> int:
        """By a block that was not run, at most."""
        return self.most if self.run >= min(ENOUGH, self.blocks) else 2 * self.most

    @property
    def at_most(self) -> int:
        """By all blocks."""
        return (self.blocks - self.run) * self.by_another + self.together

    def too_idle(self, nbytes: int) -> bool:
        """Whether too many of the blocks do too little for all of them to touch `nbytes`, though some do enough.

        Blocks of which each could do `most` may lack a share of it, on average, that follows from `nbytes`. That drawn
        ones lack so much more by chance has a probability that Chernoff's bound limits; half of them count, as they are
        drawn in pairs, and of a cluster one: blocks that only fill up the last cluster of a grid are idle together.
        """
        ends = NOT_DRAWN * self.cluster
        drawn = self.run - ends
        if drawn <= 0 or self.most == 0 or not self.conclusive:
            return False
        may_lack = max(1 - nbytes / (self.blocks * self.most), 1e-6)
        lacks = min((self.run - self.together / self.most - ends) / drawn, 1 - 1e-6)
        return lacks > may_lack and drawn / (2 * self.cluster) * _divergence(lacks, may_lack) > CERTAIN


SMALL_SHARE = 1 / 64
"""Of all inputs: what is smaller is no reason to say that a kernel leaves something out."""


def uncovered(
    launches: Sequence[Launch],
    records: Sequence[Record],
    inputs: Mapping[str, int],
    outputs: Mapping[str, int],
) -> str | None:
    """Why some bytes of an array cannot have been touched; None where all of them may have been. Arrays come with
    their bytes.

    Outputs say nothing where launches clear them, or where blocks add to them with atomics or leave them to the block
    that arrives last, which may read small inputs as well; inputs that are copied into constant memory are not read
    where they lie.
    """
    cleared = {name for launch in launches for name in launch.zero}
    copied = {name for launch in launches for _, name in launch.constant}
    with_atomics = any(atomics(record) for record in records)
    least = SMALL_SHARE * sum(inputs.values()) if with_atomics else 0
    rest = {name: size for name, size in inputs.items() if name not in copied and size >= least}
    clusters = [math.prod(launch.cluster) for launch in launches]
    guided = _guided(records)
    reason = _first_uncovered("read", rest, records, clusters, guided)
    if reason is None and not with_atomics:
        rest = {name: size for name, size in outputs.items() if name not in cleared}
        reason = _first_uncovered("written", rest, records, clusters, guided)
    return reason


def _guided(records: Sequence[Record]) -> list[bool]:
    """Of each launch, whether it reads what a launch before it has written, of which some blocks were not run: what its
    blocks have to do may stand there."""
    partial: set[str | None] = set()
    guided = []
    for record in records:
        guided.append(any(item.only_read_bytes and item.array in partial for item in record.touched))
        if record.blocks_run < record.grid_blocks:
            partial |= {item.array for item in record.touched if item.written_bytes}
    return guided


def atomics(record: Record) -> int:
    """Requests of atomics."""
    return sum(record.counters.get(metrics.GLOBAL_REQUESTS[name], 0) for name in metrics.ATOMICS)


def _first_uncovered(
    done: str,
    arrays: Mapping[str, int],
    records: Sequence[Record],
    clusters: Sequence[int],
    guided: Sequence[bool],
) -> str | None:
    for name, nbytes in arrays.items():
        shares = [
            _share(done, name, record, cluster) for record, cluster in zip(records, clusters, strict=True)
        ]
        active = [share for share in shares if share.together]
        by_others = any(share.together and told for share, told in zip(shares, guided, strict=True))
        known = all(share.conclusive for share in active or shares)
        if known and sum(share.at_most for share in shares) < nbytes:
            return _reason(done, name, nbytes, shares)
        if len(active) == 1 and not by_others and active[0].too_idle(nbytes):
            return _idle(done, name, active[0])
    return None


def _divergence(a: float, b: float) -> float:
    """Kullback and Leibler's, of two coins."""
    return a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b))


def _share(done: str, name: str, record: Record, cluster: int) -> _Share:
    read, blocks, run = done == "read", record.grid_blocks, record.blocks_run
    for item in record.touched:
        if item.array == name:  # an atomic that reads counts as a store
            most = max(item.most_written_bytes, item.most_read_bytes if read else 0)
            together = max(item.written_bytes, item.read_bytes if read else 0)
            elsewhere = item.read_elsewhere if read else item.written_elsewhere
            return _Share(blocks, run, most, together, elsewhere, cluster)
    busy = any(item.read_bytes if read else item.written_bytes for item in record.touched)
    return _Share(blocks, run, 0, 0, run if busy else 0, cluster)


def _reason(done: str, name: str, nbytes: int, shares: Sequence[_Share]) -> str:
    run, blocks = sum(share.run for share in shares), sum(share.blocks for share in shares)
    if not any(share.together for share in shares):
        return f"of {blocks:,} blocks, {run:,} were run, and nothing of `{name}` was {done}."
    share = sum(share.at_most for share in shares) / nbytes
    percent, advice = (f"{100 * share:.3g}", COVER) if share < 0.995 else ("less than 100", RANGES)
    return (
        f"`{name}` cannot be {done} whole: of {blocks:,} blocks, {run:,} were run, and all together reach {percent} % "
        f"of it at most. {advice}"
    )


def _idle(done: str, name: str, share: _Share) -> str:
    average = 100 * share.together / (share.run * share.most)
    return (
        f"`{name}` cannot be {done} whole: of {share.blocks:,} blocks, {share.run:,} were run, and on average they do "
        f"{average:.3g} % of what the most active one does, where hardly a block has less to do. Which return early?"
    )
