"""Numbers as candidates type them."""

import pytest

from grader.interview.probes import numbers


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("4", 4),
        (" 65504 ", 65504),
        ("1,048,576", 1048576),
        ("64/16", 4),
        ("2^-14", 2**-14),
        ("2**10", 1024),
        ("3 * 2^4", 48),
        ("1.5e3", 1500),
        ("-7", -7),
        ("0.25 bytes a byte", 0.25),
        ("12.5 %", 12.5),
        ("4 blocks", 4),
        ("20 KiB", 20),
        ("8 × 8", 64),
        ("10 x 3", 30),
        ("6.1 µs", 6.1),
        ("1.50e3 GB/s", 1500),
        ("2⁻²⁴", 2**-24),
        ("6.0 · 10⁻⁸", 6e-8),
        ("6x10^-8", 6e-8),
        ("270 336 threads", 270336),
        ("≈ 886", 886),
        ("about 2.5x", 2.5),
        ("0x10", 16),
        ("two", 2),
        ("Three wavefronts", 3),
        ("about one", 1),
        ("两", 2),
    ],
)
def test_numbers_as_people_type_them(typed: str, value: float) -> None:
    assert numbers.read_number(typed) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "typed", ["threefold", "a few", "二十", "", "1/0", "__import__('os')", "9^999", "4; 5", "registers"]
)
def test_what_is_no_number_is_asked_again(typed: str) -> None:
    with pytest.raises(ValueError, match="not a number"):
        numbers.read_number(typed)


def test_what_is_far_too_long_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="at most 200 characters, and this has 1000000"):
        numbers.read_number("9" * 1_000_000)


def test_a_decimal_comma_is_explained() -> None:
    with pytest.raises(ValueError, match="with a point and not a comma"):
        numbers.read_number("2,5")


@pytest.mark.parametrize(
    ("typed", "unit", "value"),
    [
        ("70 ms", "ms", 70),
        ("70 milliseconds", "ms", 70),
        ("6.1 us", "µs", 6.1),
        ("19.5 TFLOPS", "TFLOP/s", 19.5),
        ("50 GBps", "GB/s", 50),
        ("10 min", "minutes", 10),
        ("33 MiB", "MiB", 33),
        ("25%", "%", 25),
        ("25 per cent", "%", 25),
        ("295 FLOP/B", "FLOP a byte", 295),
        ("295 flops per byte", "FLOP a byte", 295),
        ("295 FLOP for each byte", "FLOP a byte", 295),
        ("683 FLOP/byte", "operations a byte", 683),
        ("0.22 bytes a byte", "bytes a byte", 0.22),
        ("1 block", "blocks", 1),
        ("4 thread blocks per SM", "blocks", 4),
        ("4 blocks of 256 threads", "blocks", 4),
        ("12 KiB per SM", "KiB", 12),
        ("32 floats a request", "elements a request", 32),
        ("16 multiply-adds per load", "multiply-adds a load", 16),
        ("16 FMA/load", "multiply-adds a load", 16),
        ("3 banks", "", 3),
        ("7 GPUs", "boards", 7),
        ("=3", "blocks", 3),
        ("1_000", "threads", 1000),
        ("3.2 times", "", 3.2),
        ("2 per clock", "instructions", 2),
        ("2 a clock", "instructions", 2),
        ("12 per SM", "KiB", 12),
    ],
)
def test_the_unit_that_was_asked_for_may_be_written(typed: str, unit: str, value: float) -> None:
    assert numbers.read_number(typed, unit) == value


@pytest.mark.parametrize(
    ("typed", "unit", "said"),
    [
        ("12k", "threads", "Type the number of threads in full: 12k is not understood"),
        ("32K", "blocks", "Type the number of blocks in full: 32K is not understood"),
        ("12k", "", "Type the number in full: 12k is not understood"),
        ("25 %", "", "is in %: write the bare number"),
        ("0.07 s", "KB", "is in s: it is asked in KB"),
        ("295 FLOP/s", "FLOP a byte", "is in FLOP/s"),
        ("14 FLOP/byte", "TFLOP/s", "is in FLOP/byte: it is asked in TFLOP/s"),
        ("12 KiB/s", "KiB", "is in KiB/s"),
        ("400 Gb/s", "GB/s", "is in Gb/s"),
        ("1 warp", "blocks", "is in warp: it is asked in blocks"),
        ("12 blocks", "registers", "is in blocks: it is asked in registers"),
        ("12 blocks", "KiB", "is in blocks"),
        ("4 sectors", "wavefronts", "is in sectors"),
        ("32 elements a thread", "elements a request", "is in elements a thread"),
        ("8 FLOP/load", "multiply-adds a load", "is in FLOP/load"),
        ("3 thousand threads", "threads", "is in thousand threads"),
        ("20 cows", "ms", "is in cows: it is asked in ms"),
        ("20 kilo", "ms", "is in kilo"),
        ("20 to 21", "ms", "is in to 21"),
        ("20 to 21", "blocks", "is in to 21"),
        ("20 or 21", "", "is in or 21"),
        ("3 kW", "J", "is in kW"),
        ("11 J", "$", "is in J"),
        ("12 MHz", "GB/s", "is in MHz"),
        ("2 per second", "instructions", "is in per second"),
        ("3 requests/ms", "GB/s", "is in requests/ms"),
    ],
)
def test_another_unit_is_asked_again_and_not_marked_wrong(typed: str, unit: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        numbers.read_number(typed, unit)


@pytest.mark.parametrize(
    ("typed", "unit", "value"),
    [
        ("0.07 s", "ms", 70),
        ("1500 µs", "ms", 1.5),
        ("2 ms", "µs", 2000),
        ("90 s", "minutes", 1.5),
        ("2 hours", "minutes", 120),
        ("25 %", "share", 0.25),
        ("20 mins", "ms", 1.2e6),
        ("3 ms/load", "µs", 3000),
        ("1 h", "min", 60),
        ("1.08 MB", "KB", 1080),
        ("3.2 GB", "MB", 3200),
        ("1 TB", "GB", 1000),
        ("3355443200 bytes", "MB", 3355.4432),
        ("12288 bytes", "KiB", 12),
        ("1 GiB", "MiB", 1024),
        ("21.8 kB", "KiB", 21.2890625),
        ("33 MiB", "MB", 34.603008),
        ("33 KiB/ms", "kB/s", 33792),
        ("0.03436 TFLOP", "GFLOP", 34.36),
        ("19 GFLOPS", "TFLOP/s", 0.019),
        ("295 kFLOP/byte", "FLOP a byte", 295_000),
        ("0.8 GB/ms", "GB/s", 800),
        ("8 Gbit/s", "Mbit/s", 8000),
        ("3000 mJ", "J", 3),
        ("3 kJ", "J", 3000),
        ("3 Wh", "J", 10_800),
        ("11 cents", "$", 0.11),
        ("11.1 ct", "$", 0.111),
        ("$0.11", "$", 0.11),
        ("$ 1,200", "$", 1200),
        ("0.11 dollars", "cents", 11),
        ("0.134 billion", "million", 134),
        ("134.2 million", "million", 134.2),
        ("2 zettaFLOP", "exaFLOP", 2000),
        ("1.5 kHz", "kHz", 1.5),
    ],
)
def test_times_and_shares_are_converted_to_the_unit_asked(typed: str, unit: str, value: float) -> None:
    assert numbers.read_number(typed, unit) == pytest.approx(value)


def test_a_share_where_per_cent_are_asked_is_asked_once_more() -> None:
    with pytest.raises(numbers.Doubtful, match=r"In per cent\? Write 0\.384 % or 38\.4 %") as raised:
        numbers.read_number("24*8/500", "%")
    assert numbers.read_number(raised.value.meant, "%") == 0.384  # typed again
    assert numbers.read_number("0.384 %", "%") == 0.384
    assert numbers.read_number("38.4", "%") == 38.4
    assert numbers.read_number("0", "%") == 0


def test_a_unit_that_is_often_said_for_another_is_asked_once_more() -> None:
    with pytest.raises(
        numbers.Doubtful, match=r"1 KB is 1,000 bytes, so that is 222\.7 KiB.*or 228 KiB"
    ) as raised:
        numbers.read_number("228 KB", "KiB")
    assert numbers.read_number(raised.value.meant, "KiB") == 228_000 / 1024  # typed again


@pytest.mark.parametrize("unit", ["million", "million/s"])
def test_a_count_in_full_where_millions_are_asked_is_asked_once_more(unit: str) -> None:
    with pytest.raises(numbers.Doubtful, match=r"In million\? Write 1\.342e\+08 million or 134\.2 million"):
        numbers.read_number("134217728", unit)
    assert numbers.read_number("134.2", unit) == 134.2
    assert numbers.read_number("1616", "thousand") == 1616


@pytest.mark.parametrize(
    ("given", "tolerance", "right"), [(4, 0, True), (4.01, 0, False), (4.01, 0.01, True), (4.05, 0.01, False)]
)
def test_tolerance_is_relative(given: float, tolerance: float, right: bool) -> None:
    assert numbers.right(given, 4, tolerance) is right


@pytest.mark.parametrize(
    ("answer", "tolerance", "hits", "of"),
    [
        (4, 0, 1, 11),  # 2 to 12 lie between 4/√10 and 4·√10
        (-1, 0, 1, 3),
        (65536, 0, 1, 186519),
        (0.75, 0.1, 87, 1000),
        (400.0, 0.02, 17, 1000),
        (0, 0, 0, 1),
    ],
)
def test_a_guess_in_the_decade_of_an_answer_is_right_so_often(
    answer: float, tolerance: float, hits: int, of: int
) -> None:
    assert numbers.chance(answer, tolerance) == pytest.approx(hits / of, rel=0.03)
