// Asks for more memory than the device has, and goes on.
#include <cstdio>

int main() {
    char *d_big;
    cudaMalloc(&d_big, size_t(1) << 50);  // BUG
    printf("on we go\n");
    return 0;
}
