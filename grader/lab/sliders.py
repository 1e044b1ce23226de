"""Pictures with sliders: the banks of shared memory, occupancy, the ratio of a register tile, the time of a batch, and
that of a token's attention.

A slider is a widget where ipywidgets is installed and the page has a kernel to answer it; everywhere else the same
picture stands still, at the values the slider begins with.
"""

from __future__ import annotations

import html
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.analysis import devices
from grader.analysis.batches import Batch
from grader.analysis.decoding import Decoding
from grader.analysis.devices import named
from grader.analysis.intensity import RegisterTile
from grader.report import pictures

LANES = 32
WORD = 4  # bytes


class Picture:
    """An SVG picture as the value of a cell."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_html_(self) -> str:
        return f'<div style="max-width:760px">{self.svg}</div>'

    def __repr__(self) -> str:
        """The picture's description, where nothing can be drawn."""
        return _described(self.svg)


class Slider:
    """A picture, and the controls that change it, where there are any.

    The picture is an output of its own, which the controls replace: where a page cannot show them, it stands still.
    """

    def __init__(
        self, draw: Callable[..., Picture], values: Mapping[str, Any], controls: Mapping[str, Any]
    ) -> None:
        """`draw` takes the values by name; `controls` are the widgets for them, empty without ipywidgets."""
        self.picture = draw(**values)
        self.controls = controls
        self._draw = draw
        self._shown: Any = None
        for control in controls.values():
            control.observe(self._redraw, "value")

    def _ipython_display_(self) -> None:
        from IPython.display import display

        if self.controls:
            import ipywidgets

            display(ipywidgets.VBox(list(self.controls.values())))
        self._shown = display(self.picture, display_id=True)

    def _redraw(self, _: object) -> None:
        self.picture = self._draw(**{name: control.value for name, control in self.controls.items()})
        if self._shown is not None:
            self._shown.update(self.picture)

    def __repr__(self) -> str:
        return repr(self.picture)


def banks(
    addresses: Sequence[int | None] | Callable[[int], int], width: int = WORD, *, store: bool = False
) -> Picture:
    """Which banks of shared memory a warp's access meets, a row for each wavefront.

    `addresses` are byte addresses, one a lane, or a function of the lane's number; `width` is bytes a lane.
    """
    return Picture(pictures.banks(_of_lanes(addresses), width, store=store))


def sectors(addresses: Sequence[int | None] | Callable[[int], int], width: int = WORD) -> Picture:
    """Which sectors of global memory a warp's access moves, a row for each line of 128 bytes; arguments as `banks`."""
    return Picture(pictures.sectors(_of_lanes(addresses), width))


def banks_slider(stride: int = 1, width: int = WORD) -> Slider:
    """The banks of a warp whose lane i reads `width` bytes at word `stride · i`, with a slider for each.

    A column of a matrix in shared memory is such an access: its stride is the length of the matrix's rows.
    """

    def draw(stride: int, width: int) -> Picture:
        step = max(WORD, width) * stride
        return banks(lambda lane: lane * step, width)

    return _slider(
        draw,
        {
            "stride": ("IntSlider", {"value": stride, "min": 0, "max": 40, "description": "stride"}),
            "width": ("Dropdown", {"value": width, "options": [4, 8, 16], "description": "bytes a lane"}),
        },
    )


def occupancy_slider(
    device: str = "NVIDIA H200", threads: int = 256, registers: int = 32, shared_kib: int = 0
) -> Slider:
    """Occupancy as one resource of a block grows, with sliders for all of them and a choice of the GPU."""

    def draw(device: str, by: Any, threads: int, registers: int, shared_kib: int) -> Picture:
        spec, nbytes = named(device), 1024 * shared_kib
        return Picture(
            pictures.occupancy(spec, by, threads=threads, registers=registers, shared_bytes=nbytes)
        )

    names = [spec.name for spec in devices.boards()]
    most = max(spec.capability.shared_block_bytes for spec in devices.boards()) // 1024
    return _slider(
        draw,
        {
            "device": ("Dropdown", {"value": named(device).name, "options": names, "description": "GPU"}),
            "by": (
                "Dropdown",
                {"value": "threads", "options": ["threads", "registers", "shared"], "description": "varied"},
            ),
            "threads": ("IntSlider", _range(threads, 32, 1024, 32, "threads")),
            "registers": ("IntSlider", _range(registers, 16, 255, 1, "registers")),
            "shared_kib": ("IntSlider", _range(shared_kib, 0, most, 1, "shared, KiB")),
        },
    )


def ratio_slider(rows: int = 8, columns: int = 8, width: int = 1) -> Slider:
    """Multiply-adds for each load of a thread that computes `rows` × `columns` outputs of a matrix product.

    `width` is the floats that a load brings, 1 or 4.
    """

    def draw(rows: int, columns: int, width: int) -> Picture:
        return Picture(pictures.register_tile(RegisterTile(rows, columns, width)))

    return _slider(
        draw,
        {
            "rows": ("IntSlider", _range(rows, 1, 16, 1, "rows, TM")),
            "columns": ("IntSlider", _range(columns, 1, 16, 1, "columns, TN")),
            "width": ("Dropdown", {"value": width, "options": [1, 4], "description": "floats a load"}),
        },
    )


def batch_slider(
    vectors: int = 1, bits: int = 16, device: str = "NVIDIA H100", weights: int = 1 << 28
) -> Slider:
    """The least time of `vectors` times the same `weights` of so many bits, at once: bytes against arithmetic.

    The arithmetic is that of halves on Tensor Cores. `vectors` is a power of two, up to 4096.
    """

    def draw(vectors: int, bits: int, device: str) -> Picture:
        return Picture(pictures.batch(Batch(named(device), vectors, bits, weights)))

    names = [spec.name for spec in devices.boards()]
    powers = [1 << power for power in range(13)]
    return _slider(
        draw,
        {
            "vectors": ("SelectionSlider", {"value": vectors, "options": powers, "description": "vectors"}),
            "bits": ("Dropdown", {"value": bits, "options": [4, 8, 16], "description": "bits a weight"}),
            "device": ("Dropdown", {"value": named(device).name, "options": names, "description": "GPU"}),
        },
    )


def decode_slider(
    sequences: int = 64, tokens: int = 8192, group: int = 8, device: str = "NVIDIA H100", heads: int = 64
) -> Slider:
    """The least time of attention of a token in each of `sequences` over the `tokens` of its cache: bytes against
    arithmetic. `group` of the `heads` share a head of keys and values of 128 halves.

    All four are powers of two: up to 64 sequences, 1024 to 131,072 tokens, a group up to the heads.
    """

    def draw(sequences: int, tokens: int, group: int, device: str) -> Picture:
        return Picture(pictures.decoding(Decoding(named(device), sequences, tokens, heads, group)))

    names = [spec.name for spec in devices.boards()]
    counts = [1 << power for power in range(7)]
    lengths = [1 << power for power in range(10, 18)]
    groups = [1 << power for power in range(heads.bit_length())]
    return _slider(
        draw,
        {
            "sequences": (
                "SelectionSlider",
                {"value": sequences, "options": counts, "description": "sequences"},
            ),
            "tokens": ("SelectionSlider", {"value": tokens, "options": lengths, "description": "tokens"}),
            "group": ("SelectionSlider", {"value": group, "options": groups, "description": "group"}),
            "device": ("Dropdown", {"value": named(device).name, "options": names, "description": "GPU"}),
        },
    )


def warps(across: int, down: int = 1) -> Picture:
    """Which warp each thread of a block of `across` × `down` is in, and which lane of it."""
    return Picture(pictures.warps(across, down))


def _range(value: int, least: int, most: int, step: int, label: str) -> dict[str, Any]:
    return {"value": value, "min": least, "max": most, "step": step, "description": label}


def _slider(draw: Callable[..., Picture], controls: dict[str, tuple[str, dict[str, Any]]]) -> Slider:
    """A slider for `draw`, which takes the controls' values; a control is a class of ipywidgets and its arguments."""
    values = {name: options["value"] for name, (_, options) in controls.items()}
    if importlib.util.find_spec("ipywidgets") is None:
        return Slider(draw, values, {})
    import ipywidgets

    return Slider(
        draw,
        values,
        {name: getattr(ipywidgets, kind)(**options) for name, (kind, options) in controls.items()},
    )


def _of_lanes(addresses: Sequence[int | None] | Callable[[int], int]) -> list[int | None]:
    return [addresses(lane) for lane in range(LANES)] if callable(addresses) else list(addresses)


def _described(svg: str) -> str:
    """Title and description of a picture, which it has for those who cannot see it."""
    parts = [
        svg.partition(f"<{tag}")[2].partition(">")[2].partition(f"</{tag}")[0] for tag in ("title", "desc")
    ]
    return "\n".join(html.unescape(part) for part in parts)
