#pragma once

// What is offered is kept if the policy, which is derived from this, accepts it.
template <class Policy> struct Selection {
    __device__ void offer(float x)
    {
        Policy *policy = static_cast<Policy *>(this);
        if (policy->accepts(x))
            policy->keep(x);  // CALL: select
    }
};
