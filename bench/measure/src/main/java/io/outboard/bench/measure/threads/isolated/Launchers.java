package io.outboard.bench.measure.threads.isolated;

import io.outboard.cuda.kernels.KernelModule;
import java.util.ArrayList;
import java.util.List;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUfunction;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import org.jspecify.annotations.Nullable;

/**
 * Launchers are threads that launch empty kernels without pause, each on a stream of its own, as the threads of a busy
 * program do. All that they need is made before the first of them runs, since making a stream beside them may take
 * seconds. Confined to one thread.
 */
final class Launchers implements AutoCloseable {

    private static final String PTX = """
            .version 6.0
            .target sm_50
            .address_size 64

            .visible .entry empty(.param .u64 nothing)
            {
                ret;
            }
            """;

    private final List<CUstream> streams = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final @Nullable KernelModule module;
    private volatile boolean closed;

    /** Starts {@code count} threads; if there are none, {@code device} isn't used. */
    Launchers(final int device, final int count) {
        if (count == 0) {
            module = null;
            return;
        }
        check("cudaSetDevice", JCuda.cudaSetDevice(device));
        // A free of a null pointer is enough to make the runtime create a context.
        check("cudaFree", JCuda.cudaFree(new Pointer()));
        final CUcontext context = new CUcontext();
        check("cuCtxGetCurrent", JCudaDriver.cuCtxGetCurrent(context));
        module = KernelModule.load("empty", PTX);
        final CUfunction empty = module.function("empty");
        for (int i = 0; i < count; i++) {
            final CUstream stream = new CUstream();
            check("cuStreamCreate", JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
            streams.add(stream);
            final Thread thread = new Thread(() -> launch(context, empty, stream), "launcher-" + i);
            thread.setDaemon(true);
            threads.add(thread);
        }
        threads.forEach(Thread::start);
    }

    private void launch(final CUcontext context, final CUfunction kernel, final CUstream stream) {
        check("cuCtxSetCurrent", JCudaDriver.cuCtxSetCurrent(context));
        final Pointer parameters = Pointer.to(Pointer.to(new long[1]));
        while (!closed) {
            check("cuLaunchKernel", JCudaDriver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, null));
        }
    }

    private static void check(final String call, final int code) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw new IllegalStateException(call + " failed: " + CUresult.stringFor(code));
        }
    }

    /** Stops the threads, and returns when all launched kernels have run. */
    @Override
    public void close() {
        closed = true;
        for (final Thread thread : threads) {
            join(thread);
        }
        for (final CUstream stream : streams) {
            check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(stream));
            check("cuStreamDestroy", JCudaDriver.cuStreamDestroy(stream));
        }
        if (module != null) {
            module.close();
        }
    }

    /** Waits for a thread, which ends with its next launch. */
    private static void join(final Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (final InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
