#pragma once
// printf() is built into NVRTC.
