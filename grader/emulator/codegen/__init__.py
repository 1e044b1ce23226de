"""PTX to native code: one LLVM function that runs one warp."""
