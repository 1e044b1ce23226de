"""The methods behind the calls of the CUDA runtime and of the driver, by what they are about."""
