"""Tensor Cores: which products there are, how their operands lie in registers, and the arithmetic."""
