"""Probes of tensorrt-plugin: traffic, formats and workspace. MB are powers of ten."""

VECTOR = 8  # channels that HWC8 keeps together


def plugin_cost(megabytes: int, terabytes: int) -> float:
    """Microseconds of reading and writing a tensor once more."""
    return 2 * megabytes / terabytes


def lost_field(default: int, parsed: int, when: str) -> dict[str, int | str]:
    """The parser's object is used in the build; a loaded engine makes one from the stored fields."""
    if "builder" in when:
        return {"answer": parsed, "why": "The builder works with the object that the parser had made"}
    return {
        "answer": default,
        "why": "The engine holds no radius, so the object made from it has the default",
    }


def padded_bytes(n: int, c: int, side: int, format: str) -> dict[str, int | str]:
    """Bytes of an FP16 tensor; HWC8 pads channels to a multiple of 8 (TensorRT, TensorFormat)."""
    held = -(-c // VECTOR) * VECTOR if format == "HWC8" else c
    why = f"{c} channels are padded to {held}" if format == "HWC8" else "Nothing is padded"
    return {"answer": n * held * side**2 * 2, "held": held, "why": why}


def combinations(inputs: int, rule: str) -> dict[str, int | str]:
    """One of three for all, or FP32 in one format and FP16 with a choice of two for each tensor."""
    if "type and format" in rule:
        return {
            "answer": 3,
            "why": "All tensors are in FP32 linear, or all in FP16 linear, or all in FP16 HWC8",
        }
    tensors = inputs + 1
    return {
        "answer": 1 + 2**tensors,
        "why": f"FP32 linear gives one combination, and in FP16 each of {tensors} tensors has one of two formats",
    }


def workspace_megabytes(tokens: int, hidden: int, optimum: int, most: int, actual: int) -> float:
    """MB of a float for each element at the profile's maximum."""
    return most * tokens * hidden * 4 / 1e6
