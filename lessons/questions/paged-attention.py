"""Probes of paged-attention: sizes, tables and blocks, after Kwon et al., 2023."""

import math
import re

SIZES = {"FP16": 2, "FP8": 1}
TABLE = (7, 2, 11, 4, 9, 0)
LONGEST = 8192
BLOCK = 16


def kib_a_token(layers: int, heads: int, kv: int, type: str) -> dict[str, float]:
    """KiB of a token's keys and values."""
    return {"answer": 2 * layers * kv * 128 * SIZES[type] / 1024, "size": SIZES[type]}


def sequences_that_fit(memory: int, kilobytes: int, length: int, how: str) -> dict[str, float]:
    """Sequences whose cache fits, reserved or paged."""
    tokens = memory * 1e9 / (kilobytes * 1e3)
    each = LONGEST if "reserves" in how else length
    return {"answer": math.floor(tokens / each), "tokens": tokens, "each": each}


def tokens_wasted(lengths: str, block: int) -> dict[str, float]:
    """Unused room in the last blocks."""
    tokens = [int(number) for number in re.findall(r"\d+", lengths)]
    blocks = sum(math.ceil(count / block) for count in tokens)
    return {
        "answer": blocks * block - sum(tokens),
        "blocks": blocks,
        "room": blocks * block,
        "used": sum(tokens),
    }


def slot_of(block: int, token: int) -> dict[str, float]:
    """Where a token lies, by the block table."""
    logical, place = divmod(token, block)
    return {
        "answer": TABLE[logical] * block + place,
        "logical": logical,
        "place": place,
        "physical": TABLE[logical],
    }


def contiguous_bytes(block: int, type: str) -> dict[str, float]:
    """Bytes of one head's keys in a block."""
    return {"answer": block * 128 * SIZES[type], "size": SIZES[type]}


def blocks_in_use(samples: int, answer_tokens: int, prompt: int) -> dict[str, float]:
    """Blocks shared by all samples, and those that each has for itself after copying on write."""
    whole, rest = divmod(prompt, BLOCK)
    own = math.ceil((rest + answer_tokens) / BLOCK)
    return {
        "answer": whole + samples * own, "whole": whole, "rest": rest, "own": own,
        "own_tokens": rest + answer_tokens, "apart": samples * (whole + own),
    }  # fmt: skip


def tokens_computed(block: int, length: int, common: int) -> dict[str, float]:
    """Tokens that are not in whole blocks of the common prefix."""
    hits = common // block
    return {"answer": length - hits * block, "hits": hits, "found": hits * block}
