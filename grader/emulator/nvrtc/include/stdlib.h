#pragma once
#include <stddef.h>

typedef unsigned int uint;
typedef unsigned short ushort;
