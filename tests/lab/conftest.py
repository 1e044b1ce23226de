"""What holds for the tests of notebooks' kernels."""

from lab_device import device_of_its_own

__all__ = ["device_of_its_own"]
