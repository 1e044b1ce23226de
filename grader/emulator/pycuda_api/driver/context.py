"""`init`, `Device` and `Context`."""

from __future__ import annotations

from typing import Any

from grader.emulator.pycuda_api.driver import constants
from grader.emulator.pycuda_api.driver.conversion import unsigned
from grader.emulator.pycuda_api.driver.emulation import (
    ContextState,
    emulation,
    in_context,
    initialised,
)
from grader.emulator.pycuda_api.driver.errors import Status, failure

_PCI_BUS_ID = "0000:00:00.0"


def init(flags: int = 0) -> None:
    """Make the driver ready; every other call but this one needs it."""
    unsigned(flags, "init: flags", 32)
    emulation().initialised = True


def get_version() -> tuple[int, int, int]:
    """The CUDA version the emulated PyCUDA was built with."""
    return (13, 0, 0)


def get_driver_version() -> int:
    """The CUDA version of the emulated driver, as 1000 · major + 10 · minor."""
    return 13000


class Device:
    """The emulated GPU: there is one, number 0."""

    def __init__(self, ordinal: int | str) -> None:
        if isinstance(ordinal, str):
            initialised("cuDeviceGetByPCIBusId")
            if ordinal != _PCI_BUS_ID:
                raise failure("cuDeviceGetByPCIBusId", Status.INVALID_VALUE, f"there is only {_PCI_BUS_ID}")
            return
        if not isinstance(ordinal, int):
            raise TypeError(
                f"Device: the ordinal must be an int or a PCI bus id, not {type(ordinal).__name__}"
            )
        initialised("cuDeviceGet")
        if ordinal != 0:
            raise failure("cuDeviceGet", Status.INVALID_DEVICE, "the emulator has one device, number 0")

    @staticmethod
    def count() -> int:
        initialised("cuDeviceGetCount")
        return 1

    def name(self) -> str:
        """The GPU's name, marked as emulated."""
        return f"{emulation().device.name} (emulated)"

    def pci_bus_id(self) -> str:
        return _PCI_BUS_ID

    def compute_capability(self) -> tuple[int, int]:
        return emulation().device.compute_capability

    def total_memory(self) -> int:
        """Bytes the emulated GPU has: what the host can give it, not what the real board holds."""
        return emulation().machine.memory.info()[1]

    def get_attribute(self, attr: constants.device_attribute) -> int:
        if not isinstance(attr, constants.device_attribute):
            raise TypeError(f"get_attribute: a device_attribute is needed, not {type(attr).__name__}")
        value = emulation().device.attributes[attr.name.lower()]
        return constants.compute_mode(value) if attr is constants.device_attribute.COMPUTE_MODE else value

    def get_attributes(self) -> dict[constants.device_attribute, int]:
        """All attributes that the emulator knows."""
        return {attr: self.get_attribute(attr) for attr in constants.device_attribute}

    def __getattr__(self, name: str) -> int:
        attribute = constants.device_attribute.names.get(name.upper())
        if attribute is None:
            raise AttributeError(f"the emulated Device has no attribute {name!r}")
        return self.get_attribute(attribute)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device)

    def __hash__(self) -> int:
        return 0

    def can_access_peer(self, other: Device) -> bool:
        return False

    def make_context(self, flags: int = 0) -> Context:
        """A new context, current in this thread. Pop and detach it when done."""
        unsigned(flags, "make_context: flags", 32)
        owner = initialised("cuCtxCreate")
        context = Context(ContextState(owner, primary=False))
        owner.stack.append(context)
        return context

    def retain_primary_context(self) -> Context:
        """The context that all libraries share on this device; push it to make it current."""
        owner = initialised("cuDevicePrimaryCtxRetain")
        if owner.primary is None:
            owner.primary = ContextState(owner, primary=True)
        else:
            owner.primary.references += 1
        return Context(owner.primary)


class Context:
    """A context, as `Device.make_context` and `Device.retain_primary_context` give it."""

    def __init__(self, state: ContextState) -> None:
        self.state = state
        self._valid = True

    @property
    def handle(self) -> int:
        return self.state.handle

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and other.state is self.state

    def __hash__(self) -> int:
        return hash(self.state.handle)

    def push(self) -> None:
        """Make this context current in this thread."""
        if not self.state.alive:
            raise failure("cuCtxPushCurrent", Status.INVALID_CONTEXT, "the context was detached")
        initialised("cuCtxPushCurrent").stack.append(self)

    def detach(self) -> None:
        """Give up this context; when nobody holds it any more, its memory is freed."""
        if not self._valid:
            raise failure("context::detach", Status.INVALID_CONTEXT, "cannot detach from invalid context")
        self._valid = False
        stack = self.state.owner.stack
        if stack and stack[-1] is self:
            stack.pop()
        self.state.release()

    @staticmethod
    def pop() -> None:
        """Make the context below the current one current again."""
        stack = emulation().stack
        if not stack:
            raise failure("context::pop", Status.INVALID_CONTEXT, "cannot pop non-current context")
        stack.pop()

    @staticmethod
    def get_current() -> Context | None:
        stack = emulation().stack
        if not stack:
            return None
        current = stack[-1]
        assert isinstance(current, Context)
        return current

    @staticmethod
    def get_device() -> Device:
        in_context("cuCtxGetDevice")
        return Device(0)

    @staticmethod
    def synchronize() -> None:
        """Wait for all work of this context; the emulator has always finished it already."""
        recorder = in_context("cuCtxSynchronize").recorder
        if recorder is not None:
            recorder.synchronise("all")

    @staticmethod
    def set_limit(limit: constants.limit, value: int) -> None:
        """Remembered and given back by `get_limit`; without effect on the emulator."""
        in_context("cuCtxSetLimit").stack[-1].state.limits[limit] = unsigned(value, "set_limit: value")

    @staticmethod
    def get_limit(limit: constants.limit) -> int:
        return in_context("cuCtxGetLimit").stack[-1].state.limits[limit]

    @staticmethod
    def set_cache_config(config: constants.func_cache) -> None:
        """Remembered and given back by `get_cache_config`; without effect on the emulator."""
        in_context("cuCtxSetCacheConfig").stack[-1].state.cache_config = config

    @staticmethod
    def get_cache_config() -> constants.func_cache:
        return in_context("cuCtxGetCacheConfig").stack[-1].state.cache_config

    @staticmethod
    def get_shared_config() -> constants.shared_config:
        in_context("cuCtxGetSharedMemConfig")
        return constants.shared_config.FOUR_BYTE_BANK_SIZE

    def get_api_version(self) -> int:
        return 13000


def current_state(routine: str) -> ContextState:
    """The context current in this thread; raises LogicError, blaming `routine`, where there is none."""
    return in_context(routine).stack[-1].state


def context_for(what: Any) -> ContextState:
    """The context an object of the driver (a stream, an event, …) is created in."""
    stack = emulation().stack
    if not stack:
        detail = f"no currently active context? (for a {type(what).__name__})"
        raise failure("explicit_context_dependent", Status.INVALID_CONTEXT, detail)
    return stack[-1].state
