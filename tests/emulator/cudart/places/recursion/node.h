#pragma once

struct Node {
    float value;
    int left;  // 0: none
    int right;
};
