package io.outboard.cuda.internal.memory;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.runtime.cudaError;

/**
 * CUDA is simulated without a GPU: some devices of a given size, a current device for each thread, and a call that
 * fails on demand.
 */
public class FakeCuda implements CudaCalls {

    public static final long TOTAL_BYTES = 1L << 30;

    private final AtomicInteger synchronizations = new AtomicInteger();

    public static final long PITCH_BYTES = 512;

    private static final long PAGE_BYTES = 1L << 21;

    /** The primary context of device 0; the lowest eight bits of a context are its device. */
    private static final long CONTEXT = 0xC0_0000;

    private final int devices;
    private final ThreadLocal<Integer> current = ThreadLocal.withInitial(() -> 0);
    private final ThreadLocal<Deque<Long>> contexts = ThreadLocal.withInitial(ArrayDeque::new);
    private final ThreadLocal<Integer> captureMode = ThreadLocal.withInitial(() -> 0);
    /** The primary contexts that exist. */
    private final Set<Long> active = new HashSet<>();
    /** The contexts that existed and were ended. */
    private final Set<Long> dead = new HashSet<>();

    private final FakeStreams streams = new FakeStreams();
    private final Map<Long, Allocation> allocations = new TreeMap<>();
    private boolean recordsContexts = true;
    private long nextAddress = 0x7f00_0000_0000L;
    private long created;
    private int lastError;
    private int callsUntilFailure = Integer.MAX_VALUE;
    private int failureCode;
    private String failedCall = "";

    public FakeCuda(final int devices) {
        this.devices = devices;
    }

    /** The bytes that were written, by their addresses. */
    private final Map<Long, Byte> bytes = new ConcurrentHashMap<>();

    private record Allocation(long context, long sizeBytes) {}

    /** Makes the n-th call from now fail, counting from 1, and no other. */
    public void failAt(final int call, final int code) {
        callsUntilFailure = call;
        failureCode = code;
        failedCall = "";
    }

    public void heal() {
        callsUntilFailure = Integer.MAX_VALUE;
    }

    public String failedCall() {
        return failedCall;
    }

    public long usedBytes(final int device) {
        return allocations.values().stream()
                .filter(allocation -> (allocation.context() & 0xFF) == device)
                .mapToLong(allocation -> roundUp(allocation.sizeBytes()))
                .sum();
    }

    /** Writes a byte as a kernel does. */
    public void write(final long address, final int value) {
        bytes.put(address, (byte) value);
    }

    /** {@inheritDoc} Memory that nobody wrote to is 0. */
    @Override
    public int fill(final long address, final long sizeBytes, final byte value) {
        for (long i = 0; i < sizeBytes; i++) {
            bytes.put(address + i, value);
        }
        return codeOfAccess("cuMemsetD8Async");
    }

    @Override
    public int read(final ByteBuffer to, final long address) {
        for (int i = 0; i < to.limit(); i++) {
            to.put(i, bytes.getOrDefault(address + i, (byte) 0));
        }
        return codeOfAccess("cuMemcpyDtoHAsync");
    }

    private int codeOfAccess(final String call) {
        assertFalse(dead.contains(currentContextOrZero()), "the context is gone");
        return enterDriver(call, allowsUnsafeCalls() ? SUCCESS : cudaError.cudaErrorStreamCaptureUnsupported);
    }

    public boolean isAllocated(final long address) {
        return allocations.entrySet().stream()
                .anyMatch(each -> address >= each.getKey()
                        && address < each.getKey() + each.getValue().sizeBytes());
    }

    public int lastError() {
        return lastError;
    }

    /** Returns how often a context was waited for. */
    public int synchronizations() {
        return synchronizations.get();
    }

    public int current() {
        return current.get();
    }

    @Override
    public int deviceCount(final int[] count) {
        final int code = enter("cudaGetDeviceCount", devices == 0 ? cudaError.cudaErrorNoDevice : SUCCESS);
        if (code == SUCCESS) {
            count[0] = devices;
        }
        return code;
    }

    @Override
    public int driverVersion(final int[] version) {
        version[0] = 13000;
        return enter("cudaDriverGetVersion", SUCCESS);
    }

    @Override
    public int runtimeVersion(final int[] version) {
        version[0] = 12060;
        return enter("cudaRuntimeGetVersion", SUCCESS);
    }

    @Override
    public int deviceName(final String[] name, final int device) {
        name[0] = "Fake GPU";
        return enter("cudaGetDeviceProperties", device < devices ? SUCCESS : cudaError.cudaErrorInvalidDevice);
    }

    @Override
    public int currentDevice(final int[] device) {
        device[0] = current.get();
        return enter("cudaGetDevice", SUCCESS);
    }

    @Override
    public int setDevice(final int device) {
        final int code = enter("cudaSetDevice", device < devices ? SUCCESS : cudaError.cudaErrorInvalidDevice);
        if (code == SUCCESS) {
            current.set(device);
            contexts.get().poll();
            contexts.get().push(CONTEXT + device);
            retainPrimary(device);
        }
        return code;
    }

    @Override
    public int memoryInfo(final long[] freeBytes, final long[] totalBytes) {
        if (currentContextOrZero() == 0) {
            // The runtime makes the primary context current, too.
            contexts.get().push(retainPrimary(current.get()));
        }
        freeBytes[0] = TOTAL_BYTES - usedBytes(current.get());
        totalBytes[0] = TOTAL_BYTES;
        return enter("cudaMemGetInfo", SUCCESS);
    }

    /** Does what the runtime's {@code cudaMalloc} does. */
    public int malloc(final long[] address, final long sizeBytes) {
        return allocated(address, sizeBytes, enter("cudaMalloc", codeOfAllocation(sizeBytes)));
    }

    @Override
    public int allocate(final long[] address, final long sizeBytes) {
        assertNotEquals(0, currentContextOrZero(), "a context is current");
        return allocated(address, sizeBytes, enterDriver("cuMemAlloc", codeOfAllocation(sizeBytes)));
    }

    private int codeOfAllocation(final long sizeBytes) {
        assertFalse(dead.contains(currentContextOrZero()), "the context is gone");
        if (!allowsUnsafeCalls()) {
            return cudaError.cudaErrorStreamCaptureUnsupported;
        }
        return sizeBytes <= TOTAL_BYTES - usedBytes(current.get()) ? SUCCESS : cudaError.cudaErrorMemoryAllocation;
    }

    private int allocated(final long[] address, final long sizeBytes, final int code) {
        if (code == SUCCESS) {
            final long context = currentContextOrZero();
            address[0] = nextAddress;
            allocations.put(nextAddress, new Allocation(context == 0 ? CONTEXT + current.get() : context, sizeBytes));
            nextAddress += roundUp(sizeBytes);
        }
        return code;
    }

    private boolean allowsUnsafeCalls() {
        return captureMode.get() == CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED || streams.allowsUnsafeCalls();
    }

    public int free(final long address) {
        return freed(address, enter("cudaFree", codeOfFree(address)));
    }

    @Override
    public int release(final long address) {
        return freed(address, enterDriver("cuMemFree", codeOfFree(address)));
    }

    private int codeOfFree(final long address) {
        if (!allowsUnsafeCalls()) {
            return cudaError.cudaErrorStreamCaptureUnsupported;
        }
        return allocations.containsKey(address) ? SUCCESS : cudaError.cudaErrorInvalidValue;
    }

    private int freed(final long address, final int code) {
        if (code == SUCCESS) {
            allocations.remove(address);
        }
        return code;
    }

    @Override
    public void clearLastError() {
        lastError = SUCCESS;
    }

    /** Returns the simulated streams and events. */
    public FakeStreams streams() {
        return streams;
    }

    /** Does what {@code cudaDeviceReset} does: nothing, if the program's own context is current. */
    public void reset() {
        final long primary = CONTEXT + current.get();
        if (currentContextOrZero() == 0 || currentContextOrZero() == primary) {
            endContext(primary);
        }
    }

    /** Does what {@code cuDevicePrimaryCtxRetain} does, apart from counting. */
    public long retainPrimary(final int device) {
        active.add(CONTEXT + device);
        dead.remove(CONTEXT + device);
        return CONTEXT + device;
    }

    /** Ends a context, and frees all its memory. */
    public void endContext(final long context) {
        allocations.values().removeIf(allocation -> allocation.context() == context);
        streams.contextEnded(context);
        active.remove(context);
        dead.add(context);
    }

    public void leaveError(final int code) {
        lastError = code;
    }

    /** Makes a context of the program's own, beside the primary one. */
    public long createContext(final int device) {
        return CONTEXT + (++created << 8) + device;
    }

    /** Does what {@code cuCtxSetCurrent} does; 0 for none. */
    public void setContext(final long context) {
        contexts.get().clear();
        if (context != 0) {
            contexts.get().push(context);
            current.set((int) (context & 0xFF));
        }
    }

    @Override
    public int contextMemoryInfo(final long[] freeBytes, final long[] totalBytes) {
        freeBytes[0] = TOTAL_BYTES - usedBytes(current.get());
        totalBytes[0] = TOTAL_BYTES;
        return enterDriver("cuMemGetInfo", SUCCESS);
    }

    @Override
    public int streamContext(final long[] context, final long stream) {
        final long mine = currentContextOrZero();
        context[0] = stream == 0 ? mine : streams.contextOf(mine, stream);
        return SUCCESS;
    }

    @Override
    public int primaryContext(final long[] context, final int device) {
        context[0] = active.contains(CONTEXT + device) ? CONTEXT + device : 0;
        return SUCCESS;
    }

    @Override
    public int retainPrimaryContext(final long[] context, final int device) {
        context[0] = retainPrimary(device);
        return enterDriver("cuDevicePrimaryCtxRetain", SUCCESS);
    }

    @Override
    public int destroyEvent(final long event) {
        streams.destroyEvent(event);
        return SUCCESS;
    }

    @Override
    public int allocatePitch(final long[] address, final long[] pitchBytes, final long widthBytes, final long height) {
        pitchBytes[0] = (widthBytes + PITCH_BYTES - 1) & -PITCH_BYTES;
        return allocate(address, pitchBytes[0] * height);
    }

    @Override
    public int currentContext(final long[] context) {
        context[0] = contexts.get().isEmpty() ? 0 : contexts.get().peek();
        return SUCCESS;
    }

    @Override
    public int pushContext(final long context) {
        contexts.get().push(context);
        current.set((int) (context & 0xFF));
        return SUCCESS;
    }

    @Override
    public int popContext() {
        contexts.get().pop();
        current.set(contexts.get().isEmpty() ? 0 : (int) (contexts.get().peek() & 0xFF));
        return SUCCESS;
    }

    @Override
    public int synchronize() {
        synchronizations.incrementAndGet();
        assertFalse(dead.contains(currentContextOrZero()), "the context is gone");
        return streams.synchronize(currentContextOrZero());
    }

    @Override
    public int streamId(final long[] id, final long stream) {
        id[0] = streams.idOf(currentContextOrZero(), stream);
        return SUCCESS;
    }

    @Override
    public int queryStream(final long stream) {
        return streams.queryStream(currentContextOrZero(), stream);
    }

    @Override
    public int createEvent(final long[] event) {
        final int failure = streams.takeCreateFailure();
        if (failure != SUCCESS) {
            return failure;
        }
        event[0] = streams.createEvent(currentContextOrZero());
        return SUCCESS;
    }

    @Override
    public int recordEvent(final long event, final long stream) {
        return streams.record(currentContextOrZero(), event, stream);
    }

    @Override
    public boolean recordsContexts() {
        return recordsContexts;
    }

    /** Simulates a driver or JDK that can't record events of contexts. */
    public void recordNoContexts() {
        recordsContexts = false;
    }

    @Override
    public int recordContext(final long event, final long context) {
        assertTrue(recordsContexts, "there is such a call");
        assertFalse(dead.contains(context), "the context is gone");
        return streams.recordContext(context, event);
    }

    @Override
    public int queryEvent(final long event) {
        streams.beforeQuery();
        return streams.query(event);
    }

    @Override
    public int captureStatus(final int[] status, final long stream) {
        streams.beforeQuery();
        return streams.captureStatus(currentContextOrZero(), status, stream);
    }

    @Override
    public int exchangeCaptureMode(final int[] mode) {
        final int before = captureMode.get();
        captureMode.set(mode[0]);
        mode[0] = before;
        return SUCCESS;
    }

    public long currentContextOrZero() {
        return contexts.get().isEmpty() ? 0 : contexts.get().peek();
    }

    private int enter(final String call, final int code) {
        final int result = enterDriver(call, code);
        if (result != SUCCESS) {
            lastError = result;
        }
        return result;
    }

    /** Begins a call of the driver, which has no last error. */
    private int enterDriver(final String call, final int code) {
        final boolean injected = --callsUntilFailure == 0;
        if (injected) {
            failedCall = call;
        }
        return injected ? failureCode : code;
    }

    private static long roundUp(final long sizeBytes) {
        return (sizeBytes + PAGE_BYTES - 1) & -PAGE_BYTES;
    }

    @Override
    public String toString() {
        return devices + " devices, " + Arrays.toString(allocations.keySet().toArray());
    }
}
