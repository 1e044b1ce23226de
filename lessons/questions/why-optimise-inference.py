"""Probes of why-optimise-inference: memory, host time, GPUs and money. MB and GB are powers of ten."""

from math import ceil

TRAINING = 16  # bytes a parameter, Rajbhandari et al., 2019
BYTES = {"FP16": 2, "FP8": 1, "INT4 (without scales)": 0.5}
ALLOWED = {
    "folding batch normalisation into the convolution's weights": (
        "inference alone",
        "in training its statistics and weights change in every step",
    ),
    "capturing a step of fixed shapes in a CUDA graph": (
        "both",
        "the graph records launches, whatever they compute",
    ),
    "recomputing activations instead of keeping them": (
        "training alone",
        "activations are kept only for the backward pass",
    ),
    "freeing a layer's input as soon as its output is complete": (
        "inference alone",
        "in training the backward pass still needs it",
    ),
    "storing weights in INT4 only, without a copy in higher precision": (
        "inference alone",
        "training's updates are far smaller than a step of INT4",
    ),
    "fusing bias and activation into a product's epilogue": (
        "both",
        "in training the fused kernel also saves what the backward pass needs",
    ),
    "keeping keys and values of earlier tokens": (
        "inference alone",
        "training sees the whole sequence at once",
    ),
}


def memory_gigabytes(billions: int, format: str) -> dict[str, float]:
    """16 bytes a parameter less those of the format."""
    return {"answer": billions * (TRAINING - BYTES[format]), "size": BYTES[format]}


def live_megabytes(layers: int, megabytes: int, how: str) -> dict[str, float | str]:
    """All outputs and the input, or an input and an output at a time."""
    if "training" in how:
        return {"answer": (layers + 1) * megabytes, "why": "The input and all outputs are kept"}
    return {"answer": 2 * megabytes, "why": "Only a layer's input and output are alive"}


def busy_percent(operators: int, host: int, gpu: int) -> dict[str, float | str]:
    """The GPU's share of the slower of host and GPU."""
    why = (
        f"A kernel arrives every {host} µs and runs for {gpu} µs"
        if gpu < host
        else "The GPU is slower than the host, so it always has work"
    )
    return {"answer": 100 * gpu / max(host, gpu), "why": why}


def allowed_in(what: str) -> dict[str, str]:
    """Where a transformation makes sense."""
    place, why = ALLOWED[what]
    return {"answer": place, "why": why}


def gpus_needed(rate: int, batch: int, ms: int, percent: int) -> dict[str, float]:
    """Requests a second over what a GPU does at its planned share, rounded up."""
    each = batch * 1000 * percent / (ms * 100)
    return {"answer": ceil(rate / each), "each": each}


def tail_percent(calls: int, how: str) -> float:
    """1 − 0.99^n (Dean and Barroso, 2013)."""
    return 100 * (1 - 0.99**calls)


def request_factor(total: int, model: int, factor: int) -> dict[str, float]:
    """Amdahl's law."""
    rest = total - model
    after = rest + model / factor
    return {"answer": total / after, "rest": rest, "after": after}


YES, SHARE, VOLUME, BOUND = (
    "yes",
    "no: its share of a request is too small",
    "no: the model runs too rarely",
    "no: there is hardly anything to gain",
)
SERVICES = {
    "The model takes 5 ms of a request of 400 ms, on 2 GPUs.": (
        SHARE,
        "Even without the model a request takes 395 ms",
    ),
    "The model takes nearly all of each request, on 200 GPUs around the clock.": (
        YES,
        "A model that is twice as fast saves a hundred GPUs",
    ),
    "The model takes nearly all of a job of ten minutes, on one GPU, once a night.": (
        VOLUME,
        "All that can be saved is a few minutes of one GPU a day",
    ),
    "The model takes nearly all of each request, on 100 GPUs, and already runs at 93 % of its bound.": (
        BOUND,
        "At most 7 % of the time can be saved",
    ),
}


def worth_it(service: str) -> dict[str, object]:
    """Share, volume and what the bound leaves."""
    answer, why = SERVICES[service]
    return {"answer": answer, "options": (YES, SHARE, VOLUME, BOUND), "why": why}
