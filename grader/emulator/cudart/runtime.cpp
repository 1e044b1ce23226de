// The CUDA runtime that a program is linked with where there is no GPU. Every function hands its arguments, as 64-bit
// words, and the way it was called, to one function in Python, and returns what that returns. Only what cannot be done
// there is done here: structures, launches' stack of configurations, a table of malloc's blocks, and faults.

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fatbinary_section.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

extern "C" void *__libc_stack_end;

namespace {

constexpr int most_frames = 8;
using Word = std::uint64_t;
using Forward = std::int64_t (*)(const char *name, const Word *arguments, const Word *frames);

Forward forward = nullptr;
Word code_first = 0, code_last = 0;  // addresses of the program's code
int report = -1;                     // the file descriptor that a crash is reported to

bool in_program(Word address) { return address >= code_first && address < code_last; }

// The addresses that the program's functions will return to, innermost first, then 0. Programs are compiled with frame
// pointers; the chain ends where somebody else's code has called.
void walk(const Word *frame, Word *found) {
    int count = 0;
    for (int step = 0; frame && step < 64 && count < most_frames; step++) {
        const Word address = frame[1];
        const Word *next = reinterpret_cast<const Word *>(frame[0]);
        if (in_program(address))
            found[count++] = address;
        else if (count)
            break;
        if (next <= frame || next > frame + (1 << 17))
            break;
        frame = next;
    }
    found[count] = 0;
}

thread_local const Word *current = nullptr;  // the way to the call that is being served

std::int64_t serve(const char *name, const Word *arguments, const Word *frames) {
    current = frames;
    const std::int64_t answer = forward(name, arguments, frames);
    current = nullptr;
    return answer;
}

std::int64_t ask(const void *frame, const char *name, const Word *arguments) {
    Word frames[most_frames + 1];
    walk(static_cast<const Word *>(frame), frames);
    return serve(name, arguments, frames);
}

template <typename T> Word word(T value) {
    Word bits = 0;
    static_assert(sizeof value <= sizeof bits);
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

// -- faults: memory that the host must not touch yet, or at all ---------------------------------------------------

struct Guard {
    Word first, last;
    int protection;  // what the host may do: PROT_NONE, PROT_READ
};
struct Fault {
    Word guard, address, writes, frames[most_frames + 2];
};
constexpr int most_guards = 4096, most_faults = 256;
Guard guards[most_guards];
int guard_count = 0;
Fault faults[most_faults];
volatile int fault_count = 0;

void frames_of(const ucontext_t *context, Word *frames) {
#if defined(__x86_64__)
    const Word at = context->uc_mcontext.gregs[REG_RIP];
    const Word *stack = reinterpret_cast<const Word *>(context->uc_mcontext.gregs[REG_RSP]);
    const Word *frame = reinterpret_cast<const Word *>(context->uc_mcontext.gregs[REG_RBP]);
#else
    const Word at = context->uc_mcontext.pc;
    const Word *stack = reinterpret_cast<const Word *>(context->uc_mcontext.sp);
    const Word *frame = reinterpret_cast<const Word *>(context->uc_mcontext.regs[29]);
#endif
    frames[0] = 0;
    if (in_program(at)) {
        frames[0] = at + 1;  // as if it were a return address
        walk(frame, frames + 1);
        return;
    }
    if (current) {
        std::memcpy(frames, current, (most_frames + 1) * sizeof *frames);
        return;
    }
    // In a library: the first address of the program on the stack is its caller.
    const auto *end = static_cast<const Word *>(__libc_stack_end);
    for (int i = 0; stack + i < end && i < 4096; i++)
        if (in_program(stack[i])) {
            frames[0] = stack[i];
            frames[1] = 0;
            return;
        }
}

bool writes(const ucontext_t *context) {
#if defined(__x86_64__)
    return context->uc_mcontext.gregs[REG_ERR] & 2;
#else
    return false;
#endif
}

void on_fault(int signal, siginfo_t *about, void *given) {
    const auto *context = static_cast<const ucontext_t *>(given);
    const Word address = reinterpret_cast<Word>(about->si_addr);
    int found = -1;
    for (int i = 0; i < guard_count; i++) {
        if (address < guards[i].first || address >= guards[i].last)
            continue;
        if (found < 0 || guards[i].protection < guards[found].protection)  // the one that forbids more
            found = i;
    }
    if (found >= 0) {
        const int i = found;
        if (fault_count < most_faults) {
            Fault &fault = faults[fault_count];
            fault.guard = i;
            fault.address = address;
            fault.writes = writes(context);
            frames_of(context, fault.frames);
            fault_count = fault_count + 1;
        }
        mprotect(reinterpret_cast<void *>(guards[i].first), guards[i].last - guards[i].first,
                 PROT_READ | PROT_WRITE);
        return;
    }
    Word frames[most_frames + 2];
    frames_of(context, frames);
    char line[512];
    int length = std::snprintf(line, sizeof line, "{\"type\":\"crash\",\"address\":%llu,\"writes\":%s,\"frames\":[",
                               static_cast<unsigned long long>(address), writes(context) ? "true" : "false");
    for (int i = 0; frames[i] && length < 400; i++)
        length += std::snprintf(line + length, sizeof line - length, i ? ",%llu" : "%llu",
                                static_cast<unsigned long long>(frames[i]));
    length += std::snprintf(line + length, sizeof line - length, "]}\n");
    if (write(report, line, length) < 0)
        _exit(70);
    std::signal(signal, SIG_DFL);  // it happens again, and ends the program as it would have ended
}

// -- malloc's blocks: how much memory there is at a host address --------------------------------------------------

template <typename T> struct Plain {  // an allocator that does not come by here again
    using value_type = T;
    Plain() = default;
    template <typename U> Plain(const Plain<U> &) {}
    T *allocate(std::size_t n) { return static_cast<T *>(std::malloc(n * sizeof(T))); }
    void deallocate(T *p, std::size_t) { std::free(p); }
    template <typename U> bool operator==(const Plain<U> &) const { return true; }
    template <typename U> bool operator!=(const Plain<U> &) const { return false; }
};

std::map<Word, std::size_t, std::less<Word>, Plain<std::pair<const Word, std::size_t>>> blocks;
std::mutex blocks_lock;

void *noted(void *p, std::size_t n) {
    const std::lock_guard<std::mutex> held(blocks_lock);
    if (p)
        blocks[reinterpret_cast<Word>(p)] = n;
    return p;
}

// What a block holds that nobody has written: where a copy takes it to the device, it counts as unwritten there, too
// (UNWRITTEN of runtime/layout.py). Larger blocks are left alone: to fill them would take the memory that they may never
// need.
void *unwritten(void *p, std::size_t n) {
    if (p && n <= std::size_t(64) << 20)
        std::fill_n(static_cast<unsigned *>(p), n / sizeof(unsigned), 0x7fd5b9e1u);
    return noted(p, n);
}

void *gone(void *p) {
    const std::lock_guard<std::mutex> held(blocks_lock);
    blocks.erase(reinterpret_cast<Word>(p));
    return p;
}

}  // namespace

// The program's own calls of malloc and the like come by here: the linker's --wrap.
extern "C" {
void *__wrap_malloc(std::size_t n) { return unwritten(std::malloc(n), n); }
void *__wrap_calloc(std::size_t n, std::size_t each) { return noted(std::calloc(n, each), n * each); }
void *__wrap_realloc(void *p, std::size_t n) { return noted(std::realloc(gone(p), n), n); }
void *__wrap_aligned_alloc(std::size_t a, std::size_t n) { return unwritten(aligned_alloc(a, n), n); }
int __wrap_posix_memalign(void **p, std::size_t a, std::size_t n) {
    const int status = posix_memalign(p, a, n);
    if (!status)
        unwritten(*p, n);
    return status;
}
void __wrap_free(void *p) { std::free(gone(p)); }
void *__wrap__Znwm(std::size_t n) { return unwritten(::operator new(n), n); }
void *__wrap__Znam(std::size_t n) { return unwritten(::operator new[](n), n); }
void __wrap__ZdlPv(void *p) { ::operator delete(gone(p)); }
void __wrap__ZdaPv(void *p) { ::operator delete[](gone(p)); }
void __wrap__ZdlPvm(void *p, std::size_t) { ::operator delete(gone(p)); }
void __wrap__ZdaPvm(void *p, std::size_t) { ::operator delete[](gone(p)); }

// The block of the program's that an address lies in: its first byte and its size; 0 where none is known. A block that
// a library has freed is still in the table; what malloc has there now tells.
int ladder_block(Word address, Word *out) {
    const std::lock_guard<std::mutex> held(blocks_lock);
    auto found = blocks.upper_bound(address);
    if (found == blocks.begin() || (--found)->first + found->second <= address)
        return 0;
    const std::size_t usable = malloc_usable_size(reinterpret_cast<void *>(found->first));
    if (usable < found->second || usable > found->second + 8192)
        return 0;
    out[0] = found->first;
    out[1] = found->second;
    return 1;
}
}

// -- what Python calls --------------------------------------------------------------------------------------------

extern "C" {

void ladder_start(Forward to, int report_to, void (*at_end)()) {
    forward = to;
    std::atexit(at_end);  // last in, first out: after all that the program registers
    report = report_to;
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}

void ladder_program(Word first, Word last) {
    code_first = first;
    code_last = last;
}

void ladder_guard(int slot, Word first, Word last, int protection) {
    guards[slot] = {first, last, protection};
    if (slot >= guard_count)
        guard_count = slot + 1;
    mprotect(reinterpret_cast<void *>(first), last - first, protection);
}

int ladder_faults() { return fault_count; }

void ladder_fault(int number, Word *out) { std::memcpy(out, &faults[number], sizeof faults[number]); }

void ladder_faults_seen() { fault_count = 0; }

void ladder_print(const char *text, std::size_t nbytes) {
    std::fwrite(text, 1, nbytes, stdout);
}

// -- the runtime's functions --------------------------------------------------------------------------------------

// The arguments may have any name but these with an underscore.
#define ASK(...)                                                                                                       \
    [&](const void *frame_, const char *function_) {                                                                   \
        const Word arguments_[] = {__VA_ARGS__};                                                                       \
        return ask(frame_, function_, arguments_);                                                                     \
    }(__builtin_frame_address(0), __func__)
#define CALL(...) return static_cast<cudaError_t>(ASK(__VA_ARGS__))

// Memory
cudaError_t cudaMalloc(void **p, size_t n) { CALL(word(p), n); }
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
    CALL(word(p), word(pitch), width, height);
}
cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t s) { CALL(word(p), n, word(s)); }
cudaError_t cudaMallocManaged(void **p, size_t n, unsigned int flags) { CALL(word(p), n, flags); }
cudaError_t cudaMallocHost(void **p, size_t n) { CALL(word(p), n); }
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned int flags) { CALL(word(p), n, flags); }
cudaError_t cudaHostGetDevicePointer(void **p, void *host, unsigned int flags) { CALL(word(p), word(host), flags); }
cudaError_t cudaHostGetFlags(unsigned int *flags, void *host) { CALL(word(flags), word(host)); }
cudaError_t cudaHostRegister(void *p, size_t n, unsigned int flags) { CALL(word(p), n, flags); }
cudaError_t cudaHostUnregister(void *p) { CALL(word(p)); }
cudaError_t cudaFree(void *p) { CALL(word(p)); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t s) { CALL(word(p), word(s)); }
cudaError_t cudaMallocFromPoolAsync(void **p, size_t n, cudaMemPool_t pool, cudaStream_t s) {
    CALL(word(p), n, word(pool), word(s));
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) { CALL(word(pool), word(device)); }
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) { CALL(word(pool), word(device)); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    CALL(word(pool), word(attribute), word(value));
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    CALL(word(pool), word(attribute), word(value));
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *wanted, size_t n) {
    CALL(word(pool), word(wanted), n);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t n) { CALL(word(pool), n); }
cudaError_t cudaFreeHost(void *p) { CALL(word(p)); }
cudaError_t cudaMemGetInfo(size_t *free, size_t *total) { CALL(word(free), word(total)); }
cudaError_t cudaMemset(void *p, int value, size_t n) { CALL(word(p), word(value), n); }
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s) { CALL(word(p), word(value), n, word(s)); }
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    CALL(word(p), pitch, word(value), width, height);
}
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t s) {
    CALL(word(p), pitch, word(value), width, height, word(s));
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
    CALL(word(to), word(from), n, word(kind));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t s) {
    CALL(word(to), word(from), n, word(kind), word(s));
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
    CALL(word(to), to_pitch, word(from), from_pitch, width, height, word(kind));
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t s) {
    CALL(word(to), to_pitch, word(from), from_pitch, width, height, word(kind), word(s));
}
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n, size_t offset, cudaMemcpyKind kind) {
    CALL(word(symbol), word(from), n, offset, word(kind));
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t n, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t s) {
    CALL(word(symbol), word(from), n, offset, word(kind), word(s));
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t n, size_t offset, cudaMemcpyKind kind) {
    CALL(word(to), word(symbol), n, offset, word(kind));
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t n, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t s) {
    CALL(word(to), word(symbol), n, offset, word(kind), word(s));
}
cudaError_t cudaGetSymbolAddress(void **p, const void *symbol) { CALL(word(p), word(symbol)); }
cudaError_t cudaGetSymbolSize(size_t *n, const void *symbol) { CALL(word(n), word(symbol)); }
cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, cudaMemLocation to, unsigned int flags, cudaStream_t s) {
    CALL(word(p), n, word(to.type), flags, word(s));
}
cudaError_t cudaMemAdvise(const void *p, size_t n, cudaMemoryAdvise advice, cudaMemLocation where) {
    CALL(word(p), n, word(advice), word(where.type));
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *out, const void *p) {
    Word found[2] = {};  // type; the device's pointer
    const auto status = static_cast<cudaError_t>(ASK(word(&found), word(p)));
    std::memset(out, 0, sizeof *out);
    out->type = static_cast<cudaMemoryType>(found[0]);
    out->device = found[0] ? 0 : -2;
    out->devicePointer = reinterpret_cast<void *>(found[1]);
    out->hostPointer = found[0] == cudaMemoryTypeDevice ? nullptr : const_cast<void *>(p);
    return status;
}

// Arrays and textures
static Word bits(float value) {
    std::uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    return word;
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}
cudaError_t cudaMalloc3D(cudaPitchedPtr *p, cudaExtent n) {
    p->xsize = n.width;
    p->ysize = n.height;
    CALL(word(&p->ptr), word(&p->pitch), n.width, n.height, n.depth);
}
cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent n) {
    CALL(word(p.ptr), p.pitch, p.ysize, word(value), n.width, n.height, n.depth);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent n, cudaStream_t s) {
    CALL(word(p.ptr), p.pitch, p.ysize, word(value), n.width, n.height, n.depth, word(s));
}
cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *texel, size_t width, size_t height,
                            unsigned int flags) {
    CALL(word(array), word(texel), width, height, flags);
}
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *texel, cudaExtent n,
                              unsigned int flags) {
    CALL(word(array), word(texel), n.width, n.height, n.depth, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) { CALL(word(array)); }
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *texel, cudaArray_const_t array) {
    CALL(word(texel), word(array));
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *texel, cudaExtent *extent, unsigned int *flags,
                             cudaArray_t array) {
    CALL(word(texel), word(extent), word(flags), word(array));
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
    CALL(word(to), x, y, word(from), pitch, width, height, word(kind));
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t s) {
    CALL(word(to), x, y, word(from), pitch, width, height, word(kind), word(s));
}
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
    CALL(word(to), pitch, word(from), x, y, width, height, word(kind));
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                       size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t s) {
    CALL(word(to), pitch, word(from), x, y, width, height, word(kind), word(s));
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t x,
                                     size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
    CALL(word(to), to_x, to_y, word(from), x, y, width, height, word(kind));
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t n, cudaMemcpyKind kind) {
    CALL(word(to), x, y, word(from), n, word(kind));
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t n, cudaMemcpyKind kind) {
    CALL(word(to), word(from), x, y, n, word(kind));
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t n, cudaMemcpyKind kind,
                                   cudaStream_t s) {
    CALL(word(to), x, y, word(from), n, word(kind), word(s));
}
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t n,
                                     cudaMemcpyKind kind, cudaStream_t s) {
    CALL(word(to), word(from), x, y, n, word(kind), word(s));
}

struct Copy3D {  // what Python reads of a cudaMemcpy3DParms
    Word words[17];
    explicit Copy3D(const cudaMemcpy3DParms &p)
        : words{word(p.dstArray), p.dstPos.x, p.dstPos.y, p.dstPos.z, word(p.dstPtr.ptr), p.dstPtr.pitch,
                p.dstPtr.ysize, word(p.srcArray), p.srcPos.x, p.srcPos.y, p.srcPos.z, word(p.srcPtr.ptr),
                p.srcPtr.pitch, p.srcPtr.ysize, p.extent.width, p.extent.height, p.extent.depth} {}
};
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p) {
    const Copy3D copy(*p);
    CALL(word(&copy), word(p->kind));
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t s) {
    const Copy3D copy(*p);
    CALL(word(&copy), word(p->kind), word(s));
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const cudaResourceDesc *has, const cudaTextureDesc *how,
                                    const cudaResourceViewDesc *view) {
    Word resource[5] = {word(has->resType)};  // its memory, its format, two extents or bytes, a pitch
    cudaChannelFormatDesc texel = {};
    if (has->resType == cudaResourceTypeLinear) {
        resource[1] = word(has->res.linear.devPtr);
        resource[2] = has->res.linear.sizeInBytes;
        texel = has->res.linear.desc;
    } else if (has->resType == cudaResourceTypePitch2D) {
        resource[1] = word(has->res.pitch2D.devPtr);
        resource[2] = has->res.pitch2D.width;
        resource[3] = has->res.pitch2D.height;
        resource[4] = has->res.pitch2D.pitchInBytes;
        texel = has->res.pitch2D.desc;
    } else {
        resource[1] = word(has->res.array.array);
    }
    const Word reading[] = {
        word(how->addressMode[0]),   word(how->addressMode[1]),   word(how->addressMode[2]),
        word(how->filterMode),       word(how->readMode),         word(how->normalizedCoords),
        bits(how->borderColor[0]),   bits(how->borderColor[1]),   bits(how->borderColor[2]),
        bits(how->borderColor[3]),   word(how->sRGB),
    };
    CALL(word(out), word(&resource), word(&texel), word(&reading), word(view));
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) { CALL(object); }

// Devices
cudaError_t cudaGetDeviceCount(int *count) { CALL(word(count)); }
cudaError_t cudaGetDevice(int *device) { CALL(word(device)); }
cudaError_t cudaSetDevice(int device) { CALL(word(device)); }
cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *) { CALL(word(device)); }
cudaError_t cudaDeviceGetPCIBusId(char *text, int room, int device) { CALL(word(text), word(room), word(device)); }
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) { CALL(word(device), word(text)); }
cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) { CALL(word(device)); }
cudaError_t cudaSetDeviceFlags(unsigned int flags) { CALL(flags); }
cudaError_t cudaGetDeviceFlags(unsigned int *flags) { CALL(word(flags)); }
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    CALL(word(value), word(attribute), word(device));
}
cudaError_t cudaDeviceSynchronize() { CALL(0); }
cudaError_t cudaDeviceReset() { CALL(0); }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) { CALL(word(config)); }
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config) { CALL(word(config)); }
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) { CALL(word(config)); }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config) { CALL(word(config)); }
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) { CALL(word(limit), value); }
cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) { CALL(word(value), word(limit)); }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { CALL(word(least), word(greatest)); }
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) { CALL(word(can), word(device), word(peer)); }
cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr which, int from, int to) {
    CALL(word(value), word(which), word(from), word(to));
}
cudaError_t cudaCtxResetPersistingL2Cache() { CALL(0); }
cudaError_t cudaDriverGetVersion(int *version) { CALL(word(version)); }
cudaError_t cudaRuntimeGetVersion(int *version) { CALL(word(version)); }
cudaError_t cudaProfilerStart() { CALL(0); }
cudaError_t cudaProfilerStop() { CALL(0); }

int ladder_attribute(cudaDeviceAttr which) {
    const Word none = 0, arguments[] = {word(which)};
    return static_cast<int>(forward("attribute", arguments, &none));
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
    std::memset(p, 0, sizeof *p);
    const auto status = static_cast<cudaError_t>(ASK(word(p->name), word(&p->totalGlobalMem), word(device)));
    if (status != cudaSuccess)
        return status;
    p->sharedMemPerBlock = ladder_attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    p->regsPerBlock = ladder_attribute(cudaDevAttrMaxRegistersPerBlock);
    p->warpSize = ladder_attribute(cudaDevAttrWarpSize);
    p->memPitch = ladder_attribute(cudaDevAttrMaxPitch);
    p->maxThreadsPerBlock = ladder_attribute(cudaDevAttrMaxThreadsPerBlock);
    p->maxThreadsDim[0] = ladder_attribute(cudaDevAttrMaxBlockDimX);
    p->maxThreadsDim[1] = ladder_attribute(cudaDevAttrMaxBlockDimY);
    p->maxThreadsDim[2] = ladder_attribute(cudaDevAttrMaxBlockDimZ);
    p->maxGridSize[0] = ladder_attribute(cudaDevAttrMaxGridDimX);
    p->maxGridSize[1] = ladder_attribute(cudaDevAttrMaxGridDimY);
    p->maxGridSize[2] = ladder_attribute(cudaDevAttrMaxGridDimZ);
    p->totalConstMem = ladder_attribute(cudaDevAttrTotalConstantMemory);
    p->major = ladder_attribute(cudaDevAttrComputeCapabilityMajor);
    p->minor = ladder_attribute(cudaDevAttrComputeCapabilityMinor);
    p->textureAlignment = ladder_attribute(cudaDevAttrTextureAlignment);
    p->texturePitchAlignment = ladder_attribute(cudaDevAttrTexturePitchAlignment);
    p->multiProcessorCount = ladder_attribute(cudaDevAttrMultiProcessorCount);
    p->integrated = ladder_attribute(cudaDevAttrIntegrated);
    p->canMapHostMemory = ladder_attribute(cudaDevAttrCanMapHostMemory);
    p->surfaceAlignment = ladder_attribute(cudaDevAttrSurfaceAlignment);
    p->concurrentKernels = ladder_attribute(cudaDevAttrConcurrentKernels);
    p->ECCEnabled = ladder_attribute(cudaDevAttrEccEnabled);
    p->asyncEngineCount = ladder_attribute(cudaDevAttrAsyncEngineCount);
    p->unifiedAddressing = ladder_attribute(cudaDevAttrUnifiedAddressing);
    p->memoryBusWidth = ladder_attribute(cudaDevAttrGlobalMemoryBusWidth);
    p->l2CacheSize = ladder_attribute(cudaDevAttrL2CacheSize);
    p->maxThreadsPerMultiProcessor = ladder_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    p->streamPrioritiesSupported = ladder_attribute(cudaDevAttrStreamPrioritiesSupported);
    p->globalL1CacheSupported = ladder_attribute(cudaDevAttrGlobalL1CacheSupported);
    p->localL1CacheSupported = ladder_attribute(cudaDevAttrLocalL1CacheSupported);
    p->sharedMemPerMultiprocessor = ladder_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    p->regsPerMultiprocessor = ladder_attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
    p->managedMemory = ladder_attribute(cudaDevAttrManagedMemory);
    p->concurrentManagedAccess = ladder_attribute(cudaDevAttrConcurrentManagedAccess);
    p->computePreemptionSupported = ladder_attribute(cudaDevAttrComputePreemptionSupported);
    p->cooperativeLaunch = ladder_attribute(cudaDevAttrCooperativeLaunch);
    p->clusterLaunch = ladder_attribute(cudaDevAttrClusterLaunch);
    p->sharedMemPerBlockOptin = ladder_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    p->maxBlocksPerMultiProcessor = ladder_attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
    p->reservedSharedMemPerBlock = ladder_attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    return cudaSuccess;
}

// Errors
cudaError_t cudaGetLastError() { CALL(0); }
cudaError_t cudaPeekAtLastError() { CALL(0); }
const char *cudaGetErrorName(cudaError_t error) { return reinterpret_cast<const char *>(ASK(word(error))); }
const char *cudaGetErrorString(cudaError_t error) { return reinterpret_cast<const char *>(ASK(word(error))); }

// Streams and events
cudaError_t cudaStreamCreate(cudaStream_t *s) { CALL(word(s)); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned int flags) { CALL(word(s), flags); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned int flags, int priority) {
    CALL(word(s), flags, word(priority));
}
cudaError_t cudaStreamDestroy(cudaStream_t s) { CALL(word(s)); }
cudaError_t cudaStreamSynchronize(cudaStream_t s) { CALL(word(s)); }
cudaError_t cudaStreamQuery(cudaStream_t s) { CALL(word(s)); }
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned int) { CALL(word(s), word(e)); }
cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority) { CALL(word(s), word(priority)); }
cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned int *flags) { CALL(word(s), word(flags)); }
cudaError_t cudaStreamGetDevice(cudaStream_t s, int *device) { CALL(word(s), word(device)); }
cudaError_t cudaStreamSetAttribute(cudaStream_t s, cudaLaunchAttributeID which, const cudaLaunchAttributeValue *) {
    CALL(word(s), word(which));
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *p, size_t n, unsigned int flags) {
    CALL(word(s), word(p), n, flags);
}
cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void *data, unsigned int) {
    const auto status = static_cast<cudaError_t>(ASK(word(s)));
    if (status == cudaSuccess)
        f(s, cudaSuccess, data);
    return status;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void *data) { CALL(word(s), word(f), word(data)); }
cudaError_t cudaEventCreate(cudaEvent_t *e) { CALL(word(e)); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned int flags) { CALL(word(e), flags); }
cudaError_t cudaEventDestroy(cudaEvent_t e) { CALL(word(e)); }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) { CALL(word(e), word(s)); }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned int) { CALL(word(e), word(s)); }
cudaError_t cudaEventSynchronize(cudaEvent_t e) { CALL(word(e)); }
cudaError_t cudaEventQuery(cudaEvent_t e) { CALL(word(e)); }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop) {
    CALL(word(ms), word(start), word(stop));
}

// Graphs
using Nodes = const cudaGraphNode_t *;
cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode mode) { CALL(word(s), word(mode)); }
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *graph) { CALL(word(s), word(graph)); }
cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus *out) { CALL(word(s), word(out)); }
cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags) { CALL(word(graph), flags); }
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { CALL(word(graph)); }
cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t graph) { CALL(word(out), word(graph)); }
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) {
    CALL(word(graph), word(nodes), word(n));
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n) {
    CALL(word(graph), word(nodes), word(n));
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) { CALL(word(node), word(type)); }
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, Nodes from, Nodes to, const cudaGraphEdgeData *data, size_t n) {
    CALL(word(graph), word(from), word(to), word(data), n);
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, Nodes before, size_t n,
                                   const cudaKernelNodeParams *p) {
    CALL(word(node), word(graph), word(before), n, word(p));
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, Nodes before, size_t n,
                                   const cudaMemcpy3DParms *p) {
    const Copy3D copy(*p);
    CALL(word(node), word(graph), word(before), n, word(&copy), word(p->kind));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, Nodes before, size_t n, void *to,
                                     const void *from, size_t count, cudaMemcpyKind kind) {
    CALL(word(node), word(graph), word(before), n, word(to), word(from), count, word(kind));
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, Nodes before, size_t n,
                                   const cudaMemsetParams *p) {
    CALL(word(node), word(graph), word(before), n, word(p));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, Nodes before, size_t n,
                                 const cudaHostNodeParams *p) {
    CALL(word(node), word(graph), word(before), n, word(p));
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, Nodes before, size_t n) {
    CALL(word(node), word(graph), word(before), n);
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, Nodes before, size_t n,
                                       cudaGraph_t child) {
    CALL(word(node), word(graph), word(before), n, word(child));
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags) {
    CALL(word(out), word(graph), flags);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags) {
    CALL(word(out), word(graph), flags);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { CALL(word(graph)); }
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *p) {
    CALL(word(graph), word(node), word(p));
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t graph, cudaGraph_t from, cudaGraphExecUpdateResultInfo *result) {
    *result = {};
    CALL(word(graph), word(from), word(&result->result));
}
cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t s) { CALL(word(graph), word(s)); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t s) { CALL(word(graph), word(s)); }

// Kernels
static thread_local struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    Word frames[most_frames + 1];
} configuration;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    configuration.grid = grid;
    configuration.block = block;
    configuration.shared = shared;
    configuration.stream = stream;
    walk(static_cast<const Word *>(__builtin_frame_address(0)), configuration.frames);
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    *grid = configuration.grid;
    *block = configuration.block;
    *shared = configuration.shared;
    *static_cast<cudaStream_t *>(stream) = configuration.stream;
    return cudaSuccess;
}

static cudaError_t launch(const char *name, const Word *frames, const void *f, dim3 grid, dim3 block, void **arguments,
                          size_t shared, cudaStream_t stream) {
    const Word words[] = {word(f),  grid.x,  grid.y,          grid.z, block.x,
                          block.y, block.z, word(arguments), shared, word(stream)};
    return static_cast<cudaError_t>(serve(name, words, frames));
}

cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t s) {
    Word frames[most_frames + 1];
    walk(static_cast<const Word *>(__builtin_frame_address(0)), frames);
    return launch("cudaLaunchKernel", frames, f, grid, block, arguments, shared, s);
}

cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 grid, dim3 block, void **arguments, size_t shared,
                                        cudaStream_t s) {
    Word frames[most_frames + 1];
    walk(static_cast<const Word *>(__builtin_frame_address(0)), frames);
    return launch("cudaLaunchCooperativeKernel", frames, f, grid, block, arguments, shared, s);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *f, void **arguments) {
    Word frames[most_frames + 1];
    walk(static_cast<const Word *>(__builtin_frame_address(0)), frames);
    const dim3 grid = config->gridDim, block = config->blockDim;
    Word words[] = {word(f),
                    grid.x,
                    grid.y,
                    grid.z,
                    block.x,
                    block.y,
                    block.z,
                    word(arguments),
                    config->dynamicSmemBytes,
                    word(config->stream),
                    0,
                    0,
                    0,
                    0,
                    0,
                    0};
    Word *cluster = words + 10, *cooperative = words + 13, *unknown = words + 14, *early = words + 15;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute &attribute = config->attrs[i];
        switch (attribute.id) {
        case cudaLaunchAttributeClusterDimension:
            cluster[0] = attribute.val.clusterDim.x;
            cluster[1] = attribute.val.clusterDim.y;
            cluster[2] = attribute.val.clusterDim.z;
            break;
        case cudaLaunchAttributeCooperative:
            *cooperative = attribute.val.cooperative;
            break;
        case cudaLaunchAttributeProgrammaticStreamSerialization:
            *early = attribute.val.programmaticStreamSerializationAllowed;
            break;
        case cudaLaunchAttributeIgnore:
        case cudaLaunchAttributeAccessPolicyWindow:
        case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        case cudaLaunchAttributePriority:
            break; // changes no result
        default:
            *unknown = attribute.id;
        }
    }
    return static_cast<cudaError_t>(serve("cudaLaunchKernelExC", words, frames));
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *f) {
    *kernel = static_cast<cudaKernel_t>(const_cast<void *>(f));
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t s) {
    return launch("cudaLaunchKernel", configuration.frames, kernel, grid, block, arguments, shared, s);
}

cudaError_t cudaFuncSetAttribute(const void *f, cudaFuncAttribute attribute, int value) {
    CALL(word(f), word(attribute), word(value));
}
cudaError_t cudaFuncSetCacheConfig(const void *f, cudaFuncCache config) { CALL(word(f), word(config)); }
cudaError_t cudaFuncSetSharedMemConfig(const void *f, cudaSharedMemConfig config) { CALL(word(f), word(config)); }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *out, const void *f) {
    Word found[8] = {};
    const auto status = static_cast<cudaError_t>(ASK(word(&found), word(f)));
    std::memset(out, 0, sizeof *out);
    out->sharedSizeBytes = found[0];
    out->constSizeBytes = found[1];
    out->localSizeBytes = found[2];
    out->maxThreadsPerBlock = static_cast<int>(found[3]);
    out->numRegs = static_cast<int>(found[4]);
    out->ptxVersion = out->binaryVersion = static_cast<int>(found[5]);
    out->maxDynamicSharedSizeBytes = static_cast<int>(found[6]);
    out->preferredShmemCarveout = -1;
    return status;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *f, int threads, size_t shared) {
    CALL(word(blocks), word(f), word(threads), shared);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *f, int threads,
                                                                   size_t shared, unsigned int) {
    CALL(word(blocks), word(f), word(threads), shared);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, const void *f, int blocks, int threads) {
    CALL(word(shared), word(f), word(blocks), word(threads));
}

// The driver's functions that programs call beside the runtime's: tensor maps for TMA.
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    return static_cast<CUresult>(ASK(word(map), word(type), rank, word(address), word(dims), word(strides), word(box),
                                     word(steps), word(interleave), word(swizzle), word(promotion), word(fill)));
}
CUresult cuGetErrorName(CUresult error, const char **text) {
    return static_cast<CUresult>(ASK(word(error), word(text)));
}
CUresult cuGetErrorString(CUresult error, const char **text) {
    return static_cast<CUresult>(ASK(word(error), word(text)));
}
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **f, unsigned long long,
                                    cudaDriverEntryPointQueryResult *found) {
    *f = dlsym(RTLD_DEFAULT, symbol);
    if (found)
        *found = cudaDriverEntryPointSuccess;
    if (*f)
        return cudaSuccess;
    CALL(word(symbol));
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **f, unsigned int, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *found) {
    return cudaGetDriverEntryPoint(symbol, f, flags, found);
}

// The driver's functions of programs that load their kernels as modules
#define DRIVE(...) return static_cast<CUresult>(ASK(__VA_ARGS__))
CUresult cuInit(unsigned int flags) { DRIVE(flags); }
CUresult cuDriverGetVersion(int *version) { DRIVE(word(version)); }
CUresult cuDeviceGet(CUdevice *device, int number) { DRIVE(word(device), word(number)); }
CUresult cuDeviceGetCount(int *count) { DRIVE(word(count)); }
CUresult cuDeviceGetName(char *name, int room, CUdevice device) { DRIVE(word(name), word(room), word(device)); }
CUresult cuDeviceTotalMem(size_t *n, CUdevice device) { DRIVE(word(n), word(device)); }
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device) {
    DRIVE(word(value), word(which), word(device));
}
CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *, unsigned int flags, CUdevice device) {
    DRIVE(word(context), flags, word(device));
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) { DRIVE(word(context), word(device)); }
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { DRIVE(word(device)); }
CUresult cuCtxDestroy(CUcontext context) { DRIVE(word(context)); }
CUresult cuCtxSetCurrent(CUcontext context) { DRIVE(word(context)); }
CUresult cuCtxPushCurrent(CUcontext context) { DRIVE(word(context)); }
CUresult cuCtxPopCurrent(CUcontext *context) { DRIVE(word(context)); }
CUresult cuCtxGetCurrent(CUcontext *context) { DRIVE(word(context)); }
CUresult cuCtxGetDevice(CUdevice *device) { DRIVE(word(device)); }
CUresult cuCtxSynchronize() { DRIVE(0); }
CUresult cuModuleLoad(CUmodule *module, const char *file) { DRIVE(word(module), word(file)); }
CUresult cuModuleLoadData(CUmodule *module, const void *image) { DRIVE(word(module), word(image)); }
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int, CUjit_option *, void **) {
    DRIVE(word(module), word(image));
}
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) { DRIVE(word(module), word(image)); }
CUresult cuModuleUnload(CUmodule module) { DRIVE(word(module)); }
CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name) {
    DRIVE(word(f), word(module), word(name));
}
CUresult cuModuleGetGlobal(CUdeviceptr *p, size_t *n, CUmodule module, const char *name) {
    DRIVE(word(p), word(n), word(module), word(name));
}
CUresult cuMemGetInfo(size_t *free, size_t *total) { DRIVE(word(free), word(total)); }
CUresult cuMemAlloc(CUdeviceptr *p, size_t n) { DRIVE(word(p), n); }
CUresult cuMemAllocAsync(CUdeviceptr *p, size_t n, CUstream s) { DRIVE(word(p), n, word(s)); }
CUresult cuMemAllocHost(void **p, size_t n) { DRIVE(word(p), n); }
CUresult cuMemAllocManaged(CUdeviceptr *p, size_t n, unsigned int flags) { DRIVE(word(p), n, flags); }
CUresult cuMemFree(CUdeviceptr p) { DRIVE(p); }
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s) { DRIVE(p, word(s)); }
CUresult cuMemFreeHost(void *p) { DRIVE(word(p)); }
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) { DRIVE(to, from, n); }
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t n) { DRIVE(to, word(from), n); }
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t n) { DRIVE(word(to), from, n); }
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t n) { DRIVE(to, from, n); }
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t n, CUstream s) {
    DRIVE(to, word(from), n, word(s));
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t n, CUstream s) { DRIVE(word(to), from, n, word(s)); }
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) { DRIVE(to, from, n, word(s)); }
CUresult cuMemsetD8(CUdeviceptr p, unsigned char value, size_t n) { DRIVE(p, value, n); }
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t n, CUstream s) { DRIVE(p, value, n, word(s)); }
CUresult cuMemsetD32(CUdeviceptr p, unsigned int value, size_t n) { DRIVE(p, value, n); }
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned int value, size_t n, CUstream s) { DRIVE(p, value, n, word(s)); }
CUresult cuStreamCreate(CUstream *s, unsigned int flags) { DRIVE(word(s), flags); }
CUresult cuStreamDestroy(CUstream s) { DRIVE(word(s)); }
CUresult cuStreamSynchronize(CUstream s) { DRIVE(word(s)); }
CUresult cuStreamQuery(CUstream s) { DRIVE(word(s)); }
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned int) { DRIVE(word(s), word(e)); }
CUresult cuEventCreate(CUevent *e, unsigned int flags) { DRIVE(word(e), flags); }
CUresult cuEventDestroy(CUevent e) { DRIVE(word(e)); }
CUresult cuEventRecord(CUevent e, CUstream s) { DRIVE(word(e), word(s)); }
CUresult cuEventQuery(CUevent e) { DRIVE(word(e)); }
CUresult cuEventSynchronize(CUevent e) { DRIVE(word(e)); }
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent stop) { DRIVE(word(ms), word(start), word(stop)); }
CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                        unsigned int by, unsigned int bz, unsigned int shared, CUstream s, void **arguments,
                        void **extra) {
    DRIVE(word(f), gx, gy, gz, bx, by, bz, shared, word(s), word(arguments), word(extra));
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute which, int value) {
    DRIVE(word(f), word(which), word(value));
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads, size_t shared) {
    DRIVE(word(blocks), word(f), word(threads), shared);
}
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of,
                                          size_t shared, int limit) {
    DRIVE(word(grid), word(block), word(f), word(shared_of), shared, word(limit));
}

// A translation unit registers its code: a header, whose length stands in its bytes 6 and 7, and as many bytes behind it
// as its second word says. The unit is known by its number, to which the handle points.
void **__cudaRegisterFatBinary(void *wrapper) {
    const auto *data = static_cast<const __fatBinC_Wrapper_t *>(wrapper)->data;
    std::uint16_t header;
    std::memcpy(&header, reinterpret_cast<const char *>(data) + 6, sizeof header);
    const Word none = 0, arguments[] = {word(data), header + data[1]};
    return new void *(reinterpret_cast<void *>(forward("__cudaRegisterFatBinary", arguments, &none)));
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
void __cudaRegisterFunction(void **unit, const char *host, char *, const char *name, int, uint3 *, uint3 *, dim3 *, dim3 *,
                            int *) {
    const Word none = 0, arguments[] = {word(*unit), word(host), word(name)};
    forward("__cudaRegisterFunction", arguments, &none);
}
void __cudaRegisterVar(void **unit, char *host, char *, const char *name, int, size_t, int, int) {
    const Word none = 0, arguments[] = {word(*unit), word(host), word(name)};
    forward("__cudaRegisterVar", arguments, &none);
}
void __cudaRegisterManagedVar(void **unit, void **pointer, char *, const char *name, int, size_t, int, int) {
    const Word none = 0, arguments[] = {word(*unit), word(pointer), word(name)};
    forward("__cudaRegisterManagedVar", arguments, &none);
}
char __cudaInitModule(void **) { return 1; }

}  // extern "C"
