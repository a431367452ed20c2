// A driver without a GPU, which says what it is asked: each call is a line with its name and arguments. The prototypes
// are those of cuda.h, which the compiler compares with its own if it is given the header's folder.

#include <stdio.h>
#include <string.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#else
#include <stddef.h>
typedef int CUresult, CUdevice, CUstreamCaptureStatus, CUstreamCaptureMode, CUmemAllocationHandleType;
typedef int CUmemAllocationGranularity_flags;
typedef unsigned long long CUdeviceptr, CUmemGenericAllocationHandle;
typedef struct context *CUcontext;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct graph *CUgraph;
typedef struct { char bytes[16]; } CUuuid;
typedef struct { char bytes[64]; } CUipcMemHandle;
typedef struct properties CUmemAllocationProp;
typedef struct access CUmemAccessDesc;
#endif

#define SAY(...) (printf(__VA_ARGS__), putchar('\n'), fflush(stdout))
#define CONTEXT(number) ((CUcontext) (0xC000L + (number)))
#define ASKED(name, answer, value) (SAY(name), *(answer) = (value), 0)

#ifndef STARTED
#define STARTED 0
#endif

static CUcontext stack[9];
static int depth;
static int retained;
static unsigned long long next = 0x700000000000;

CUresult cuInit(unsigned flags) { return SAY("cuInit %u", flags), STARTED; }
CUresult cuGetErrorName(CUresult code, const char **name) { return *name = code == 2 ? "MEMORY" : 0, code != 2; }
CUresult cuDeviceGetCount(int *count) { return ASKED("cuDeviceGetCount", count, 2); }
CUresult cuDriverGetVersion(int *version) { return ASKED("cuDriverGetVersion", version, 12090); }
CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    SAY("cuDeviceGetName %d %d", length, device);
    return strcpy(name, "Fake"), 0;
}
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) { return memset(uuid, device, sizeof *uuid), 0; }
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) { return *bytes = 1L << 30, device < 0; }
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    SAY("cuDevicePrimaryCtxGetState %d", device);
    return *flags = 7, *active = retained >> device & 1, 0;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    // Device 2 has no memory for a context until another library of the process has made the context.
    const int failed = device == 2 && !(retained >> device & 1);
    SAY("cuDevicePrimaryCtxRetain %d", device);
    return retained |= 1 << device, *context = failed ? 0 : CONTEXT(device), failed ? 2 : 0;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return SAY("cuDevicePrimaryCtxRelease_v2 %d", device), 0; }
CUresult cuCtxGetDevice(CUdevice *device) { return ASKED("cuCtxGetDevice", device, (long) stack[depth] & 0xF); }
CUresult cuCtxGetCurrent(CUcontext *context) { return *context = stack[depth], 0; }
CUresult cuCtxSetCurrent(CUcontext context) { return SAY("cuCtxSetCurrent %p", context), stack[depth] = context, 0; }
CUresult cuCtxPushCurrent_v2(CUcontext context) {
    return SAY("cuCtxPushCurrent_v2 %p", context), stack[++depth] = context, 0;
}
CUresult cuCtxPopCurrent_v2(CUcontext *context) { return ASKED("cuCtxPopCurrent_v2", context, stack[depth--]); }
CUresult cuCtxSynchronize(void) { return SAY("cuCtxSynchronize"), 0; }
CUresult cuMemGetInfo_v2(size_t *freeBytes, size_t *bytes) {
    return *freeBytes = 1L << 29, ASKED("cuMemGetInfo_v2", bytes, 1L << 30);
}
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    SAY("cuMemAlloc_v2 %zu", bytes);
    return !address ? 1 : (*address = next, next += bytes, bytes == 1UL << 40 ? 2 : 0);
}
CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    SAY("cuMemAllocPitch_v2 %zu %zu %u", width, height, element);
    return *address = 0x1234, *pitch = 512, 0;
}
CUresult cuMemFree_v2(CUdeviceptr address) {
    // This address stands for a reset of all devices, which ends primary contexts.
    retained &= address == 0xDEAD ? 0 : ~0;
    return SAY("cuMemFree_v2 %llx", address), 0;
}
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t bytes, CUstream stream) {
    return SAY("cuMemsetD8Async %llx %u %zu %p", address, value, bytes, stream), 0;
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    SAY("cuMemcpyDtoHAsync_v2 %llx %zu %p", from, bytes, stream);
    return memset(to, 0x5A, bytes), 0;
}
CUresult cuStreamSynchronize(CUstream stream) { return SAY("cuStreamSynchronize %p", stream), 0; }
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    SAY("cuStreamGetCtx %p", stream);
    // Handles of default streams belong to no context.
    return *context = stream > (CUstream) 2 ? CONTEXT(1) : stack[depth], 0;
}
#ifndef OLD
CUresult cuStreamGetId(CUstream stream, unsigned long long *id) { return SAY("cuStreamGetId %p", stream), *id = 77, 0; }
CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
    return SAY("cuCtxRecordEvent %p %p", context, event), 0;
}
#endif
CUresult cuStreamQuery(CUstream stream) { return SAY("cuStreamQuery %p", stream), 600; }
CUresult cuEventCreate(CUevent *event, unsigned flags) {
    SAY("cuEventCreate %u", flags);
    return *event = (CUevent) 0xE0, 0;
}
CUresult cuEventDestroy_v2(CUevent event) { return SAY("cuEventDestroy_v2 %p", event), 0; }
CUresult cuEventRecord(CUevent event, CUstream stream) { return SAY("cuEventRecord %p %p", event, stream), 0; }
CUresult cuEventQuery(CUevent event) { return SAY("cuEventQuery %p", event), 0; }
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    return *status = stream ? 1 : 0, 0;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    SAY("cuThreadExchangeStreamCaptureMode %d", *mode);
    return *mode = 1, 0;
}

// The functions of memory that grows in place, in as much as a pool looks at their answers.

CUresult cuMemGetAllocationGranularity(
        size_t *bytes, const CUmemAllocationProp *of, CUmemAllocationGranularity_flags flags) {
    return *bytes = 1 << 21, !of + flags;
}
CUresult cuMemAddressReserve(
        CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted, unsigned long long flags) {
    return *address = next, next += bytes, alignment != 1 << 21 || wanted || flags;
}
CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) { return !address || !bytes; }
CUresult cuMemCreate(
        CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *of, unsigned long long flags) {
    return SAY("cuMemCreate %zu", bytes), *handle = 0x99, !of || flags;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) { return handle != 0x99; }
CUresult cuMemMap(
        CUdeviceptr at, size_t bytes, size_t from, CUmemGenericAllocationHandle of, unsigned long long flags) {
    return !at || !bytes || from || of != 0x99 || flags;
}
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) { return !address || !bytes; }
CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count) {
    return !address || !bytes || !access || count != 1;
}
CUresult cuMemExportToShareableHandle(
        void *to, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type, unsigned long long flags) {
    return !to || handle != 0x99 || type != 1 || flags;
}
CUresult cuMemImportFromShareableHandle(
        CUmemGenericAllocationHandle *handle, void *from, CUmemAllocationHandleType type) {
    return *handle = 0x99, !from || type != 1;
}

// The functions that programs call, and pools don't. In those whose names end so, stream 0 is the thread's own.

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    SAY("cuCtxCreate_v2 %u %d", flags, device);
    return *context = stack[++depth] = CONTEXT(0x10 + device), 0;
}
CUresult cuGLCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    return cuCtxCreate_v2(context, flags, device);
}
CUresult cuCtxDestroy_v2(CUcontext context) {
    depth -= stack[depth] == context;
    return SAY("cuCtxDestroy_v2 %p", context), 0;
}
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    SAY("cuMemGetAddressRange_v2 %llx", address);
    return *base = address & ~0xFFFULL, *bytes = 1 << 12, 0;
}
CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address) {
    return SAY("cuIpcGetMemHandle %llx", address), memset(handle, 1, sizeof *handle), 0;
}
CUresult cuStreamDestroy_v2(CUstream stream) { return SAY("cuStreamDestroy_v2 %p", stream), 0; }

#define OF_BOTH_STREAMS(end) \
    CUresult cuMemAllocAsync##end(CUdeviceptr *address, size_t bytes, CUstream stream) { \
        SAY("cuMemAllocAsync" #end " %zu %p", bytes, stream); \
        return *address = next, next += bytes, 0; \
    } \
    CUresult cuMemFreeAsync##end(CUdeviceptr address, CUstream stream) { \
        return SAY("cuMemFreeAsync" #end " %llx %p", address, stream), 0; \
    } \
    CUresult cuStreamBeginCapture_v2##end(CUstream stream, CUstreamCaptureMode mode) { \
        return SAY("cuStreamBeginCapture_v2" #end " %p %d", stream, mode), 0; \
    } \
    CUresult cuStreamEndCapture##end(CUstream stream, CUgraph *graph) { \
        return SAY("cuStreamEndCapture" #end " %p", stream), *graph = (CUgraph) 0x9A, 0; \
    }
OF_BOTH_STREAMS()
OF_BOTH_STREAMS(_ptsz)
