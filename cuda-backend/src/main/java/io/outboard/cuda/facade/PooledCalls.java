package io.outboard.cuda.facade;

import io.outboard.cuda.memory.CudaCalls;
import io.outboard.cuda.memory.DevicePointers;
import io.outboard.cuda.memory.JCudaCalls;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import jcuda.CudaException;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * What the facades of runtime and driver have in common. The rule of both: what is ordinary comes from the pool; what
 * isn't, and what the pool can't serve, goes to CUDA itself with the caller's own arguments, unless a lender has refused it. So corner cases are CUDA's,
 * and its codes and the exceptions of JCuda for a Java null, too. Safe for any number of threads.
 */
final class PooledCalls {

    /** No code: the driver is to be asked. */
    static final int ASK_DRIVER = -1;

    /** The driver's code has the same number. */
    private static final int OUT_OF_MEMORY = cudaError.cudaErrorMemoryAllocation;

    /** Above it addresses are the driver's business: it refuses. No device has so much, and no sum overflows. */
    private static final long MOST_BYTES = 1L << 48;

    private final ContextPools pools;
    private final IntFunction<String> names;
    private final boolean keepsLastError;
    private volatile boolean exceptionsEnabled;

    /**
     * A facade's part.
     *
     * @param pools where memory comes from
     * @param names of the codes, as in JCuda's exceptions
     * @param keepsLastError whether failed calls leave an error that the program finds later
     */
    PooledCalls(final ContextPools pools, final IntFunction<String> names, final boolean keepsLastError) {
        this.pools = pools;
        this.names = names;
        this.keepsLastError = keepsLastError;
    }

    void enableExceptions(final boolean enabled) {
        exceptionsEnabled = enabled;
    }

    /** What a function of JCuda does in the end: returns the code, or throws if it is an error and exceptions are on. */
    int result(final int code) {
        return code == CudaCalls.SUCCESS || !exceptionsEnabled ? code : fail(code);
    }

    private int fail(final int code) {
        throw new CudaException(names.apply(code));
    }

    /** JCuda's code, whether its own exceptions are on or off. */
    int ask(final IntSupplier call) {
        try {
            return call.getAsInt();
        } catch (final CudaException e) {
            return JCudaCalls.codeOf(e, names);
        }
    }

    // Memory

    /** What the caller is to answer, success or a code; or {@link #ASK_DRIVER}, and then nothing has changed. */
    int allocate(final @Nullable ContextPool pool, final @Nullable Pointer pointer, final long sizeBytes) {
        if (pool == null || pointer == null || sizeBytes <= 0) {
            return ASK_DRIVER;
        }
        return allocated(pool.allocate(sizeBytes), pointer);
    }

    /** The same for what a pool has answered. */
    static int allocated(final long address, final Pointer pointer) {
        if (address == ContextPool.NOT_SERVED) {
            return ASK_DRIVER;
        }
        if (address == ContextPool.REFUSED) {
            DevicePointers.set(pointer, 0);
            return OUT_OF_MEMORY;
        }
        DevicePointers.set(pointer, address);
        return CudaCalls.SUCCESS;
    }

    /**
     * The pitch of a row, and that the pool is to serve it; or 0, when the driver is to. It is 512 bytes, say, for widths
     * from 1 to 512.
     */
    long pitchOf(final @Nullable ContextPool pool, final long widthBytes, final long rows) {
        if (pool == null || widthBytes <= 0 || rows <= 0 || widthBytes > Integer.MAX_VALUE - 4096) {
            return 0;
        }
        final long unitBytes = pool.pitchUnitBytes();
        final long pitchBytes = (widthBytes + unitBytes - 1) & -unitBytes;
        return unitBytes == 0 || rows > MOST_BYTES / pitchBytes ? 0 : pitchBytes;
    }

    /** Lets the driver allocate; where it has nothing left, once more without what the pool holds and doesn't use. */
    int allocateByDriver(
            final @Nullable ContextPool pool,
            final @Nullable Pointer pointer,
            final int outOfMemory,
            final IntSupplier call) {
        final int code = allocateByDriver(pool, outOfMemory, call);
        if (code != CudaCalls.SUCCESS && pointer != null) {
            // JCuda leaves there whatever was on its stack.
            DevicePointers.set(pointer, 0);
        }
        return code;
    }

    private int allocateByDriver(final @Nullable ContextPool pool, final int outOfMemory, final IntSupplier call) {
        if (pool == null) {
            return ask(call);
        }
        final int code = pool.relaxed(() -> ask(call));
        if (code != outOfMemory || !pool.giveBackUnused()) {
            return code;
        }
        final int second = pool.relaxed(() -> ask(call));
        if (second == CudaCalls.SUCCESS && keepsLastError) {
            // The program knows nothing of the first attempt.
            pool.clearLastError();
        }
        return second;
    }

    /** The pool that a pointer's memory is of; null for the driver's memory, and for null. */
    @Nullable
    ContextPool owner(final @Nullable Pointer pointer) {
        return pointer == null ? null : pools.owner(DevicePointers.address(pointer));
    }

    /** Adds to the device's free bytes what the pool has free. */
    static void addUnused(final @Nullable ContextPool pool, final long @Nullable [] freeBytes) {
        if (pool != null && freeBytes != null && freeBytes.length > 0) {
            freeBytes[0] = pool.withUnused(freeBytes[0]);
        }
    }

    // Streams

    /** Registers a stream that was created on this thread. */
    void streamCreated(final @Nullable ContextPool pool, final NativePointerObject stream) {
        if (pool != null) {
            pools.streamCreated(pool, DevicePointers.handle(stream));
        }
    }

    static long handleOf(final @Nullable NativePointerObject stream) {
        return stream == null ? 0 : DevicePointers.handle(stream);
    }
}
