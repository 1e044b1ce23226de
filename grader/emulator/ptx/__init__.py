"""What a kernel is: PTX parsed, its control flow, and the plan that code is generated from. Nothing is executed."""
