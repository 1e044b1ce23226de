"""PyCUDA's modules over the emulator: same names, same arguments, same errors."""
