"""What NVML says: how many GPUs there are, and of one that is timed power, clock, and what held the clock back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

REASONS = {
    "SwPowerCap": "power cap",
    "HwSlowdown": "hardware slowdown",
    "SwThermalSlowdown": "thermal slowdown",
    "HwThermalSlowdown": "hardware thermal slowdown",
    "HwPowerBrakeSlowdown": "power brake",
    "SyncBoost": "sync boost",
    "ApplicationsClocksSetting": "clocks set by an application",
    "DisplayClockSetting": "display clocks",
}
"""NVML's names of the reasons that make a time untypical, and ours. An idle clock between rounds is none."""


def gpu_count() -> int:
    """How many GPUs NVML knows; 0 without NVML."""
    try:
        import pynvml

        pynvml.nvmlInit()
        return int(pynvml.nvmlDeviceGetCount())
    except Exception:  # no package, no library, no permission
        return 0


@dataclass
class Watch:
    """Looks at one GPU from time to time; without NVML it sees nothing and says so by None."""

    bus_id: str | None
    power_w: float | None = None  # highest seen
    sm_clock_mhz: int | None = None  # lowest seen
    reasons: list[str] | None = None  # all seen, each once
    _nvml: Any = field(default=None, repr=False)
    _handle: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.bus_id is None:
            return
        try:
            import pynvml

            pynvml.nvmlInit()
            self._handle = pynvml.nvmlDeviceGetHandleByPciBusId(self.bus_id.encode())
        except Exception:  # no package, no library, no permission: provenance then says null
            return
        self._nvml = pynvml

    def look(self) -> None:
        """Take note of power, clock and throttle reasons now."""
        if self._nvml is None:
            return
        try:
            watts = self._nvml.nvmlDeviceGetPowerUsage(self._handle) / 1000
            clock = int(self._nvml.nvmlDeviceGetClockInfo(self._handle, self._nvml.NVML_CLOCK_SM))
            mask = int(self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._handle))
        except self._nvml.NVMLError:
            return
        self.power_w = max(watts, self.power_w or 0.0)
        self.sm_clock_mhz = min(clock, self.sm_clock_mhz or clock)
        seen = [ours for theirs, ours in REASONS.items() if mask & self._bit(theirs)]
        self.reasons = list(dict.fromkeys([*(self.reasons or []), *seen]))

    def _bit(self, name: str) -> int:
        return int(getattr(self._nvml, f"nvmlClocksThrottleReason{name}", 0))
