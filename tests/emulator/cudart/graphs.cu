// Graphs, of nodes that are added and of streams that are captured. Without an argument all is right; "bugs" has lines
// that end with BUG; "refused" asks for what is not emulated.
#include "programs/check.h"
#include <cstring>

const int n = 256, bytes = n * sizeof(int);
int *d_x, *d_y;
cudaStream_t one, two;
cudaEvent_t event, other;

__global__ void scale(int *x, int by) { x[threadIdx.x] *= by; }
__global__ void add(int *y, const int *x, int more) { y[threadIdx.x] += x[threadIdx.x] + more; }
__global__ void beyond(int *x) { x[n + threadIdx.x] = 1; }  // FAULT

void say(void *text) { std::printf("%s\n", static_cast<const char *>(text)); }

int first_of(const int *x) {
    int value;
    CHECK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

cudaGraphExec_t executable(cudaGraph_t graph) {
    cudaGraphExec_t made;
    CHECK(cudaGraphInstantiate(&made, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return made;
}

// d_x is set to 3, d_y copied from the host; then d_x is scaled, and added to d_y.
void nodes() {
    cudaGraph_t graph, child;
    cudaGraphNode_t set, copy, join, scaled, added, told, node[9];
    int by = 2, more = 5;
    static int source[n];
    source[0] = 100;

    void *of_scale[] = {&d_x, &by}, *of_add[] = {&d_y, &d_x, &more};
    cudaKernelNodeParams scaling = {(void *)scale, dim3(1), dim3(n), 0, of_scale, nullptr};
    cudaKernelNodeParams adding = {(void *)add, dim3(1), dim3(n), 0, of_add, nullptr};
    cudaMemsetParams filling = {d_x, 0, 3, sizeof(int), n, 1};
    cudaMemcpy3DParms copying = {};
    copying.srcPtr = make_cudaPitchedPtr(source, bytes, n, 1);
    copying.dstPtr = make_cudaPitchedPtr(d_y, bytes, n, 1);
    copying.extent = make_cudaExtent(bytes, 1, 1);
    copying.kind = cudaMemcpyHostToDevice;
    cudaHostNodeParams telling = {say, (void *)"added"};

    CHECK(cudaGraphCreate(&child, 0));
    CHECK(cudaGraphAddKernelNode(&scaled, child, nullptr, 0, &scaling));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &adding));
    CHECK(cudaGraphAddHostNode(&told, graph, &added, 1, &telling));
    CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &filling));
    CHECK(cudaGraphAddMemcpyNode(&copy, graph, nullptr, 0, &copying));
    cudaGraphNode_t both[] = {set, copy};
    CHECK(cudaGraphAddEmptyNode(&join, graph, both, 2));
    CHECK(cudaGraphAddChildGraphNode(&scaled, graph, &join, 1, child));
    CHECK(cudaGraphAddDependencies(graph, &scaled, &added, nullptr, 1));
    by = more = 0;  // what they were is kept
    filling.value = 0;

    size_t all = 0, roots = 0, few = 2;
    cudaGraphNodeType type;
    CHECK(cudaGraphGetNodes(graph, nullptr, &all));
    CHECK(cudaGraphGetNodes(graph, node, &few));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    CHECK(cudaGraphNodeGetType(node[1], &type));
    std::printf("%zu nodes, %zu roots, %d\n", all, roots, type == cudaGraphNodeTypeHost && few == 2);

    cudaGraph_t copied;
    CHECK(cudaGraphClone(&copied, graph));
    cudaGraphExec_t launched = executable(graph), of_copy = executable(copied);
    CHECK(cudaGraphLaunch(launched, one));
    CHECK(cudaStreamSynchronize(one));
    std::printf("%d\n", first_of(d_y));

    more = 7;
    CHECK(cudaGraphExecKernelNodeSetParams(launched, added, &adding));
    CHECK(cudaGraphLaunch(launched, one));
    CHECK(cudaGraphLaunch(of_copy, one));
    CHECK(cudaStreamSynchronize(one));
    std::printf("%d\n", first_of(d_y));
    CHECK(cudaGraphLaunch(launched, 0));
    CHECK(cudaDeviceSynchronize());
    std::printf("%d\n", first_of(d_y));
    for (cudaGraphExec_t each : {launched, of_copy})
        CHECK(cudaGraphExecDestroy(each));
    CHECK(cudaGraphDestroy(child));
}

cudaGraph_t captured(int by, bool twice) {
    cudaGraph_t graph;
    cudaStreamCaptureStatus now;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(event, one));
    CHECK(cudaStreamWaitEvent(two, event, 0));
    CHECK(cudaMemsetAsync(d_y, 0, bytes, two));
    CHECK(cudaStreamIsCapturing(two, &now));
    scale<<<1, n, 0, one>>>(d_x, by);
    if (twice)
        scale<<<1, n, 0, one>>>(d_x, by);
    CHECK(cudaEventRecord(event, two));
    CHECK(cudaStreamWaitEvent(one, event, 0));
    add<<<1, n, 0, one>>>(d_y, d_x, 1);
    CHECK(cudaLaunchHostFunc(one, say, (void *)(now == cudaStreamCaptureStatusActive ? "captured" : "not captured")));
    CHECK(cudaStreamEndCapture(one, &graph));
    return graph;
}

void captures() {
    CHECK(cudaMemset(d_x, 0, bytes));
    CHECK(cudaMemset(d_x, 1, 1));
    cudaGraphExec_t launched = executable(captured(2, false));
    std::printf("%d\n", first_of(d_x));  // nothing has run yet
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(launched, two));
    CHECK(cudaStreamSynchronize(two));
    std::printf("%d %d\n", first_of(d_x), first_of(d_y));

    cudaGraphExecUpdateResultInfo result;
    cudaGraph_t changed = captured(3, false), larger = captured(3, true);
    CHECK(cudaGraphExecUpdate(launched, changed, &result));
    CHECK(cudaGraphLaunch(launched, two));
    CHECK(cudaStreamSynchronize(two));
    const cudaError_t refused = cudaGraphExecUpdate(launched, larger, &result);
    std::printf("%d %d %d\n", first_of(d_x), refused == cudaErrorGraphExecUpdateFailure,
                result.result == cudaGraphExecUpdateErrorTopologyChanged);
    for (cudaGraph_t each : {changed, larger})
        CHECK(cudaGraphDestroy(each));
    CHECK(cudaGraphExecDestroy(launched));
    cudaGetLastError();
}

// What a capture does not allow, what it returns, and what the end of the capture does then.
void not_allowed() {
    cudaGraph_t graph;
    void *p;
    auto with = [&](const char *name, cudaStreamCaptureMode mode, auto call) {
        CHECK(cudaStreamBeginCapture(one, mode));
        const cudaError_t status = call(), end = cudaStreamEndCapture(one, &graph);
        std::printf("%s: %d %d %d\n", name, status, end, graph != nullptr);
        if (graph)
            CHECK(cudaGraphDestroy(graph));
        cudaGetLastError();
    };
    const auto global = cudaStreamCaptureModeGlobal, relaxed = cudaStreamCaptureModeRelaxed;
    with("malloc", global, [&] { return cudaMalloc(&p, 4); });
    with("malloc, relaxed", relaxed, [&] { return cudaMalloc(&p, 4); });
    CHECK(cudaFree(p));
    with("wait", relaxed, [&] { return cudaStreamSynchronize(one); });
    with("copy", relaxed, [&] { return cudaMemcpy(d_x, d_y, 4, cudaMemcpyDeviceToDevice); });
    with("default stream", relaxed, [&] { return cudaMemsetAsync(d_x, 0, 4, 0); });
    CHECK(cudaEventRecord(other, two));
    with("event", relaxed, [&] { return cudaStreamWaitEvent(one, other, 0); });
    with("begin", relaxed, [&] { return cudaStreamBeginCapture(one, relaxed); });
    with("not joined", relaxed, [&] {
        CHECK(cudaEventRecord(event, one));
        CHECK(cudaStreamWaitEvent(two, event, 0));
        return cudaMemsetAsync(d_x, 0, 4, two);
    });
    const cudaError_t begin = cudaStreamBeginCapture(0, global), end = cudaStreamEndCapture(one, &graph);
    std::printf("%d %d\n", begin, end);
    cudaGetLastError();
}

void bugs() {
    cudaGraph_t graph;
    int *pinned;
    CHECK(cudaMallocHost(&pinned, bytes));
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    beyond<<<1, 1, 0, one>>>(d_x);  // LAUNCH
    CHECK(cudaMemsetAsync(d_x, 0, bytes, one));
    CHECK(cudaMemcpyAsync(pinned, d_x, bytes, cudaMemcpyDeviceToHost, one));  // COPY
    CHECK(cudaStreamEndCapture(one, &graph));
    pinned[0] = 7;  // the copy has not begun
    cudaGraphExec_t launched = executable(graph);
    CHECK(cudaGraphLaunch(launched, two));
    const int early = pinned[0];  // BUG
    CHECK(cudaStreamSynchronize(two));
    std::printf("%d %d\n", early, pinned[0]);
    CHECK(cudaGraphExecDestroy(launched));
    CHECK(cudaFreeHost(pinned));
}

void refused() {
    void *p;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&p, 4, one));  // REFUSED
}

int main(int argc, char **argv) {
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_y, bytes));
    for (cudaStream_t *each : {&one, &two})
        CHECK(cudaStreamCreate(each));
    for (cudaEvent_t *each : {&event, &other})
        CHECK(cudaEventCreate(each));
    if (argc == 1) {
        nodes();
        captures();
        not_allowed();
    } else if (!std::strcmp(argv[1], "bugs")) {
        bugs();
    } else {
        refused();
    }
    for (cudaEvent_t each : {event, other})
        CHECK(cudaEventDestroy(each));
    for (cudaStream_t each : {one, two})
        CHECK(cudaStreamDestroy(each));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
}
