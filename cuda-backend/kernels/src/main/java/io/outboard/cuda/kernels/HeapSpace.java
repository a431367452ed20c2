package io.outboard.cuda.kernels;

import io.outboard.cuda.internal.memory.ContextMemorySource;
import io.outboard.cuda.internal.memory.ContextScope;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.CudaContext;
import io.outboard.cuda.internal.memory.CudaFailures;
import io.outboard.cuda.internal.memory.StreamCaptures;
import io.outboard.cuda.kernels.internal.DevicePtx;
import io.outboard.cuda.kernels.internal.KernelDriver;
import io.outboard.pool.Pool;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUstream;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/**
 * This class is what all in-kernel heaps have in common: device memory, a pool's or the caller's, in a context, and
 * Outboard's own kernels that work on the memory. External lock required.
 */
// A scope takes effect while it is open, so its variable is never read.
@SuppressWarnings("try")
final class HeapSpace implements AutoCloseable {

    static final int BLOCK_THREADS = 256;

    private static final int BLOCKS_PER_MULTIPROCESSOR = 8;

    private final KernelDriver driver;
    private final long context;
    private final @Nullable Pool pool;
    private final long address;
    private final long sizeBytes;
    private @Nullable KernelModule module;
    private int multiprocessors;
    private boolean launched;
    private boolean unfinished;
    private boolean closed;

    /** Takes a block of the pool, or the caller's memory if the pool is null, in the calling thread's context. */
    HeapSpace(
            final KernelDriver driver,
            final @Nullable Pool pool,
            final long givenAddress,
            final long sizeBytes,
            final long alignmentBytes) {
        this.driver = driver;
        this.pool = pool;
        this.sizeBytes = sizeBytes;
        context = driver.currentContext();
        address = pool != null ? pool.allocate(sizeBytes, alignmentBytes) : givenAddress;
    }

    KernelDriver driver() {
        return driver;
    }

    ContextScope scope() {
        return driver.scope(context);
    }

    /** Opens a source of memory in the space's context, which the caller closes soon. */
    ContextMemorySource scratch() {
        return new ContextMemorySource(new CudaContext(driver.cuda(), context, 0, new StreamCaptures()));
    }

    long address() {
        return address;
    }

    long sizeBytes() {
        return sizeBytes;
    }

    /** Loads Outboard's own kernels; the context must be current. */
    void load(final DevicePtx ptx) {
        final int[] count = new int[1];
        CudaFailures.check("cuDeviceGetAttribute", driver.kernels().multiprocessors(count));
        multiprocessors = count[0];
        module = KernelModule.load(driver, ptx);
    }

    boolean isLoaded() {
        return module != null;
    }

    int multiprocessors() {
        return multiprocessors;
    }

    /** Answers how many blocks of {@link #BLOCK_THREADS} fill the device. */
    int fullGrid() {
        return multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
    }

    boolean isClosed() {
        return closed;
    }

    /** Waits for all work in the context, which must be current. */
    void synchronize() {
        CudaFailures.check("cuCtxSynchronize", driver.cuda().synchronize());
        unfinished = false;
    }

    /** Launches a kernel of Outboard's own on the default stream, with numbers as its arguments. */
    void launch(final String kernel, final int gridBlocks, final int blockThreads, final long... arguments) {
        launch(kernel, gridBlocks, blockThreads, new CUstream(), words(arguments));
    }

    void launch(
            final String kernel,
            final int gridBlocks,
            final int blockThreads,
            final CUstream stream,
            final NativePointerObject... arguments) {
        launched = true;
        unfinished = true;
        Objects.requireNonNull(module).launch(kernel, gridBlocks, blockThreads, stream, arguments);
    }

    /** Makes arguments of words. A kernel reads as much of each as its parameter has: the lower bytes come first. */
    static Pointer[] words(final long... arguments) {
        return Arrays.stream(arguments)
                .mapToObj(argument -> Pointer.to(ByteBuffer.allocateDirect(Long.BYTES)
                        .order(ByteOrder.nativeOrder())
                        .putLong(0, argument)))
                .toArray(Pointer[]::new);
    }

    static Pointer[] words(final Pointer last, final long... arguments) {
        return Stream.concat(Arrays.stream(words(arguments)), Stream.of(last)).toArray(Pointer[]::new);
    }

    /** Copies the first bytes of the memory, after all work on the default stream; other streams aren't waited for. */
    void copyControl(final ByteBuffer control) {
        final long[] words = new long[control.capacity() / Long.BYTES];
        CudaFailures.check("cuMemcpyDtoH", driver.kernels().copyToHost(words, address));
        control.asLongBuffer().put(words);
    }

    /**
     * Gives memory and kernels back. The call waits for all work in the context if a kernel on any stream may still use
     * a block of a pool, or if a kernel of Outboard's own may still run. Idempotent.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        final int waited = unfinished || (pool != null && launched) ? await() : CudaCalls.SUCCESS;
        if (waited == cudaError.cudaErrorStreamCaptureUnsupported) {
            CudaFailures.check("cuCtxSynchronize", waited);
        }
        closed = true;
        try {
            if (module != null) {
                module.close();
            }
            CudaFailures.check("cuCtxSynchronize", waited);
        } finally {
            if (pool != null) {
                pool.free(address);
            }
        }
    }

    private int await() {
        try (ContextScope scope = scope()) {
            return driver.cuda().synchronize();
        }
    }
}
