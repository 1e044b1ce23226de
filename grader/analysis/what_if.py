"""What a ladder would take on a device that it was not measured on: always extrapolated, and called so.

The model says how much faster or slower each rung runs there than on the device of a record, and the measured time
is scaled by that. What the model gets wrong on both devices alike cancels; what only the other device does is not
known. Where nothing was measured, the modelled time itself has to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.results import RungResult


@dataclass(frozen=True)
class Modelled:
    """One rung's modelled time on some device; where there is none, the reason."""

    seconds: float | None = None
    limited_by: str | None = None  # the time model's largest term; None for schedules
    reason: str | None = None  # why the rung does not run there
    terms: Mapping[str, float] = field(
        default_factory=dict
    )  # of the time model, in seconds; none of schedules
    blocks: int = 0  # of the launch that has the most; 0 for schedules


@dataclass(frozen=True)
class WhatIf:
    """One rung on another device; seconds, None where not known."""

    rung: str
    measured_s: float | None  # on the device of the record
    modelled_s: float | None  # on that device
    elsewhere_s: float | None  # modelled on the other device
    limited_by: str | None  # what takes most of the time there, by the model
    reason: str | None  # why the rung does not run there

    @property
    def extrapolated_s(self) -> float | None:
        """The measured time, scaled as the model scales from device to device."""
        if self.elsewhere_s is None or self.measured_s is None or not self.modelled_s:
            return self.elsewhere_s
        return self.measured_s * self.elsewhere_s / self.modelled_s


def what_if(
    rungs: Sequence[RungResult], here: Mapping[str, Modelled], there: Mapping[str, Modelled]
) -> list[WhatIf]:
    """Every rung of a record on another device: `here` is the model of the record's device, `there` of the other. What
    was modelled beside the rungs follows; nothing was measured of it."""
    found = []
    for rung in rungs:
        other = there.get(rung.id, Modelled(reason="the ladder has no such rung"))
        measured = rung.time_s if rung.time_source == "measured" else None
        own = here.get(rung.id, Modelled())
        found.append(WhatIf(rung.id, measured, own.seconds, other.seconds, other.limited_by, other.reason))
    measured_rungs = {rung.id for rung in rungs}
    for name in (name for name in here if name not in measured_rungs):
        own, other = here[name], there[name]
        found.append(WhatIf(name, None, own.seconds, other.seconds, other.limited_by, other.reason))
    return found
