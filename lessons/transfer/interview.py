"""Answers to the probes of this interview: operations, bytes, copies and launches of T products in a row."""

LINK = 50.0  # GB/s, as the texts say
MATRIX = 160.0  # kB of 200 × 200 floats
TILE = 16  # side of a block


def _kb(n: int) -> float:
    """Kilobytes of n × n floats."""
    return 4 * n * n / 1000


def _share(part: float, rest: float) -> dict[str, float]:
    """Per cent of a part in its sum with the rest."""
    return {"answer": 100 * part / (part + rest), "total": part + rest}


def operations_per_byte(n: int) -> float:
    """2n³ operations on three matrices of 4n² bytes."""
    return 2 * n**3 / (3 * 4 * n**2)


def copies_of_a_product(fixed: float, rate: float, n: int) -> dict[str, float]:
    """Microseconds of three copies: a fixed cost and one for each 100 kB."""
    each = rate * _kb(n) / 100
    return {"answer": 3 * (fixed + each), "kb": _kb(n), "each": each}


def time_when_it_stays(copies: float, kernel: float, products: int) -> dict[str, float]:
    """The copies once and every kernel, and the copies each time."""
    return {"answer": copies + products * kernel, "before": products * (copies + kernel)}


def first_that_pays(cpu: int, kernel: int, copies: int) -> dict[str, int]:
    """The least T with copies + T · kernel < T · cpu."""
    gain = cpu - kernel
    return {"answer": copies // gain + 1, "gain": gain}


def honest_speedup(told: float, kernel: float, copies: float, cores: float) -> dict[str, float]:
    """The library's time over that of kernel and copies."""
    one, gpu = told * kernel, kernel + copies
    return {"answer": one / cores / gpu, "one": one, "library": one / cores, "gpu": gpu}


def break_even_size(cpu: float, link: float) -> float:
    """N at which 2N³ operations take as long as 12N² bytes."""
    return 6 * cpu / link


def share_of_the_kernel(copy: float, kernel: float) -> dict[str, float]:
    """Per cent of a product that is not its three copies."""
    return _share(kernel, 3 * copy)


def gain_of_a_faster_kernel(copies: float, kernel: float) -> dict[str, float]:
    """Per cent of a product that half its kernel is."""
    return {**_share(kernel / 2, copies + kernel / 2), "half": kernel / 2}


def share_of_fixed_cost(fixed: float, link: float) -> dict[str, float]:
    """Per cent of a copy that is its fixed cost."""
    moving = MATRIX / link
    return {**_share(fixed, moving), "moving": moving}


def smaller_matrices(fixed: float, each: float, n: int) -> dict[str, float]:
    """Microseconds of three copies whose fixed part stays."""
    kb = _kb(n)
    moving = each * kb / MATRIX
    return {"answer": 3 * (fixed + moving), "kb": kb, "moving": moving, "before": 3 * (fixed + each)}


def copies_that_are_left(products: int, n: int) -> dict[str, float]:
    """Kilobytes of three matrices for all but one product."""
    return {"answer": 3 * (products - 1) * _kb(n), "kb": _kb(n)}


def buffer_of_the_result(products: int) -> str:
    """Each product ends in the other buffer, and leaves the one before it where it is."""
    return f"{'pq'[products % 2]}; the other has the product before the last"


def host_or_gpu(host: float, gpu: float, products: int) -> dict[str, float]:
    """The slower of host and GPU, for each product."""
    return {"answer": products * max(host, gpu), "slower": max(host, gpu)}


def copies_that_remain(copy: float, products: float) -> dict[str, float]:
    """Per cent of the whole that three copies take."""
    return _share(3 * copy, products)


def copies_when_pinned(slow: float, mb: float) -> dict[str, float]:
    """Microseconds that three copies become shorter."""
    before, after = 3000 * mb / slow, 3000 * mb / LINK
    return {"answer": before - after, "before": before, "after": after}


def order_of_two_steps(copies: float, products: int) -> dict[str, float]:
    """Three quarters of the copies of one product, and of all."""
    return {"answer": 0.75 * copies, "first": 0.75 * copies * products}


def most_that_pinning_saves(copies: float, total: float, faster: float) -> dict[str, float]:
    """Amdahl's law: per cent of the whole that faster copies save."""
    saved = copies - copies / faster
    return {"answer": 100 * saved / total, "saved": saved, "most": 100 * copies / total}


def idle_between_products(host: float, gpu: float) -> float:
    """Per cent of the time from launch to launch in which no product runs."""
    return 100 * (host - gpu) / host


def copies_for_nothing(copy: float, products: float) -> dict[str, float]:
    """Per cent of the whole that three copies take."""
    return _share(3 * copy, products)


def calls_in_all(products: int, runs: int) -> dict[str, int]:
    """Three copies, the launches and a wait for each run; or captured once, and two calls for each run."""
    before, once = (products + 4) * runs, products + 3
    after = once + 2 * runs
    return {"answer": before - after, "before": before, "once": once, "after": after}


def gain_of_nodes(host: float, gpu: float, node: float) -> float:
    """Microseconds that a hundred products gain."""
    return 100 * (max(host, gpu) - (gpu + node))


def chain_on_more_streams(gpu: float, chains: int, products: int) -> dict[str, float]:
    """Two chains at a time."""
    passes = -(-chains // 2)
    return {"answer": passes * products * gpu, "passes": passes}


def warps_of_a_product(n: int, sms: int) -> dict[str, float]:
    """Per cent of all places for warps that blocks of 256 threads take."""
    tiles = -(-n // TILE)
    blocks, room = tiles * tiles, 64 * sms
    return {"answer": 100 * 8 * blocks / room, "tiles": tiles, "blocks": blocks, "room": room}


def pairs_that_fill(blocks: int, sms: int) -> dict[str, int]:
    """Places for blocks over the blocks of a product, rounded up."""
    return {"answer": -(-8 * sms // blocks), "places": 8 * sms}


def batch_over_the_link(pairs: int, kernel: float) -> dict[str, float]:
    """Milliseconds of the slower of two operands a pair and the kernels."""
    copies, kernels = pairs * 2 * MATRIX / LINK / 1000, pairs * kernel / 1000
    return {"answer": max(copies, kernels), "copies": copies, "kernels": kernels}
