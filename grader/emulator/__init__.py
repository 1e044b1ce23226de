"""An NVIDIA GPU on the CPU: NVRTC's PTX is translated to native code, warp by warp, and counted.

The package knows nothing of the workbook around it: it imports nothing from the rest of `grader` but
`grader.sandbox`, in which its compiler runs.
"""
