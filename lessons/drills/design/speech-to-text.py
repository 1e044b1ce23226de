"""Speech to text, live."""


def _gpus(encode, decode, batch, calls):
    """Of the encoder and of the decoder."""
    return calls * encode / (0.3 * 121e3), calls / batch * decode / 1e3


def megabits(calls: int, **_: object) -> float:
    """Samples times bits (Radford et al., 2022, section 2.2: 16 kHz)."""
    return calls * 16000 * 2 * 8 / 1e6


def encoder_gpus(encode: int, decode: int, batch: int, calls: int, **_: object) -> float:
    """FLOP/s over what is reached."""
    return float(_gpus(encode, decode, batch, calls)[0])


def decoder_gpus(encode: int, decode: int, batch: int, calls: int, **_: object) -> float:
    """Utilisation: rate times time of service (Little, 1961)."""
    return float(_gpus(encode, decode, batch, calls)[1])


def heavier(encode: int, decode: int, batch: int, calls: int, **_: object) -> dict[str, object]:
    """The larger of both."""
    encoder, decoder = _gpus(encode, decode, batch, calls)
    answer = "the encoder" if encoder > decoder else "the decoder"
    return {"answer": answer, "encoder": encoder, "decoder": decoder}


def left_ms(piece: float, **_: object) -> float:
    """What a piece takes to arrive is gone."""
    return 2000 - 1000 * piece


def calls_a_gpu(ms: int, n: int) -> float:
    """Whole batches that fit into a second."""
    return 1000 // ms * n


def state_gb(mb: int, calls: int) -> float:
    """Calls times bytes."""
    return mb * calls / 1e3


def fewer_gpus(percent: int) -> float:
    """All over speech."""
    return 100 / percent


def behind(can: int, come: int) -> dict[str, float]:
    """The queue grows by the surplus; 2 s of work are 2 · can."""
    return {"answer": 2 * can / (come - can), "more": come - can}
