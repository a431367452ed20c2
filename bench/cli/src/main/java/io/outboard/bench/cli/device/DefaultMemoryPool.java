package io.outboard.bench.cli.device;

import io.outboard.cuda.driver.CudaFailureException;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import jcuda.driver.CUmemPool_attribute;
import jcuda.driver.CUresult;

/**
 * A device's default memory pool is what {@code cuMemAllocAsync} takes memory from. This class makes the calls about it
 * that JCuda 12.6.0 lacks, to {@code libcuda} through {@link ForeignFunction}. Confined to one thread.
 */
final class DefaultMemoryPool {

    /** The largest release threshold, 2^64 - 1, at which the pool never gives memory back by itself. */
    static final long KEEP_ALL = -1L;

    private static final String LIBRARY = "libcuda.so.1";

    private final MethodHandle getAttribute;
    private final MethodHandle setAttribute;
    private final MethodHandle trim;
    private final ByteBuffer value = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
    private final long valueAddress;
    private final long handle;

    private DefaultMemoryPool(final int device) throws ReflectiveOperationException {
        getAttribute = ForeignFunction.find(LIBRARY, "cuMemPoolGetAttribute", long.class, int.class, long.class);
        setAttribute = ForeignFunction.find(LIBRARY, "cuMemPoolSetAttribute", long.class, int.class, long.class);
        trim = ForeignFunction.find(LIBRARY, "cuMemPoolTrimTo", long.class, long.class);
        final MethodHandle getPool = ForeignFunction.find(LIBRARY, "cuDeviceGetDefaultMemPool", long.class, int.class);
        valueAddress = ForeignFunction.addressOf(value);
        check("cuDeviceGetDefaultMemPool", ForeignFunction.call(getPool, valueAddress, device));
        handle = value.getLong(0);
    }

    /**
     * Finds the default pool of a device; the driver's API must have been initialised.
     *
     * @param device number of the device
     * @return the pool, or nothing if this JDK lacks {@code java.lang.foreign} or denies its use
     * @throws CudaFailureException if the driver has no pools on this device
     */
    static Optional<DefaultMemoryPool> of(final int device) {
        if (!ForeignFunction.isAvailable()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new DefaultMemoryPool(device));
        } catch (final ReflectiveOperationException e) {
            return Optional.empty();
        }
    }

    /** Returns how many bytes, unsigned, the pool keeps at a synchronisation. */
    long releaseThreshold() {
        callOnThreshold("cuMemPoolGetAttribute", getAttribute);
        return value.getLong(0);
    }

    /** Sets how many bytes, unsigned, the pool keeps at a synchronisation. */
    void setReleaseThreshold(final long bytes) {
        value.putLong(0, bytes);
        callOnThreshold("cuMemPoolSetAttribute", setAttribute);
    }

    /** Gives free memory back until the pool keeps no more than the given bytes, unsigned. */
    void trimTo(final long bytes) {
        check("cuMemPoolTrimTo", ForeignFunction.call(trim, handle, bytes));
    }

    private void callOnThreshold(final String call, final MethodHandle function) {
        try {
            check(
                    call,
                    ForeignFunction.call(
                            function, handle, CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, valueAddress));
        } finally {
            // The buffer must stay reachable, because the driver knows only its address.
            Reference.reachabilityFence(value);
        }
    }

    private static void check(final String call, final int code) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw new CudaFailureException(call, code, CUresult.stringFor(code));
        }
    }
}
