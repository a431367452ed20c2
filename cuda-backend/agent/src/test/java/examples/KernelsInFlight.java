package examples;

import java.util.Locale;
import java.util.Random;
import jcuda.Pointer;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaMemcpyKind;
import jcuda.runtime.cudaStream_t;

/**
 * The program runs a pipeline: while the device computes one batch, the host prepares the next, which takes the host as
 * long, and needs buffers meanwhile. {@code cudaFree} waits for the kernel, so that host and device take turns instead
 * of working at the same time.
 *
 * <pre>java ... examples.KernelsInFlight [MILLISECONDS [STEPS [blocking]]]</pre>
 *
 * <p>With {@code blocking} both streams wait for the default one: any work on the default stream makes the host wait
 * for the kernel.
 *
 * <p>The output says whether the buffers held what was written; the error output has times.
 */
public final class KernelsInFlight {

    private static final int BUFFERS = 8;
    private static final int LEAST_BYTES = 64 << 10;
    private static final int MOST_BYTES = 4 << 20;

    /** The kernel takes a given number of nanoseconds. */
    static final String SPIN = """
            .version 6.0
            .target sm_50
            .address_size 64

            .visible .entry spin(.param .u64 nanoseconds)
            {
                .reg .pred %p<2>;
                .reg .b64 %rd<5>;

                ld.param.u64 %rd1, [nanoseconds];
                mov.u64 %rd2, %globaltimer;
            again:
                mov.u64 %rd3, %globaltimer;
                sub.u64 %rd4, %rd3, %rd2;
                setp.lt.u64 %p1, %rd4, %rd1;
                @%p1 bra again;
                ret;
            }
            """;

    private static final Pointer[] POINTERS = new Pointer[BUFFERS];
    private static final int[] SIZES = new int[BUFFERS];
    private static final Random RANDOM = new Random(7);

    private static long allocationNs;
    private static long longestNs;
    private static long calls;
    private static long wrong;

    private KernelsInFlight() {}

    public static void main(final String... args) {
        final long kernelNs = (args.length > 0 ? Long.parseLong(args[0]) : 2) * 1_000_000;
        final int steps = args.length > 1 ? Integer.parseInt(args[1]) : 100;
        final int flags = args.length > 2 ? JCuda.cudaStreamDefault : JCuda.cudaStreamNonBlocking;
        JCuda.setExceptionsEnabled(true);
        JCudaDriver.setExceptionsEnabled(true);
        JCuda.cudaSetDevice(0);
        JCuda.cudaFree(new Pointer());
        final CUmodule module = new CUmodule();
        JCudaDriver.cuModuleLoadData(module, SPIN);
        final CUfunction spin = new CUfunction();
        JCudaDriver.cuModuleGetFunction(spin, module, "spin");
        final cudaStream_t computing = new cudaStream_t();
        final cudaStream_t copying = new cudaStream_t();
        JCuda.cudaStreamCreateWithFlags(computing, flags);
        JCuda.cudaStreamCreateWithFlags(copying, flags);

        run(spin, computing, copying, 1_000_000, 5);
        allocationNs = 0;
        longestNs = 0;
        calls = 0;
        final long start = System.nanoTime();
        run(spin, computing, copying, kernelNs, steps);
        final long ns = System.nanoTime() - start;

        JCuda.cudaStreamDestroy(computing);
        JCuda.cudaStreamDestroy(copying);
        System.out.println("wrong buffers: " + wrong);
        System.err.printf(
                Locale.ROOT,
                "kernel %d ms, %d steps: %.1f ms in all, %.3f ms in %d allocation calls, the longest %.3f ms%n",
                kernelNs / 1_000_000,
                steps,
                ns / 1e6,
                allocationNs / 1e6,
                calls,
                longestNs / 1e6);
        JCudaDriver.cuModuleUnload(module);
        JCuda.cudaDeviceReset();
    }

    private static void run(
            final CUfunction spin,
            final cudaStream_t computing,
            final cudaStream_t copying,
            final long kernelNs,
            final int steps) {
        final Pointer parameters = Pointer.to(Pointer.to(new long[] {kernelNs}));
        for (int step = 0; step < steps; step++) {
            // The host is at most one batch ahead of the device.
            JCuda.cudaStreamSynchronize(computing);
            JCudaDriver.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, new CUstream(computing), parameters, null);
            for (int i = 0; i < BUFFERS; i++) {
                SIZES[i] = LEAST_BYTES + RANDOM.nextInt(MOST_BYTES - LEAST_BYTES);
                POINTERS[i] = new Pointer();
                final int index = i;
                timed(() -> JCuda.cudaMalloc(POINTERS[index], SIZES[index]));
                JCuda.cudaMemsetAsync(POINTERS[i], step + i, SIZES[i], copying);
            }
            check(copying, step);
            for (int i = 0; i < BUFFERS; i++) {
                final int index = i;
                timed(() -> JCuda.cudaFree(POINTERS[index]));
            }
            prepare(kernelNs);
        }
        JCuda.cudaStreamSynchronize(computing);
    }

    /** Works on the host for as long as a kernel runs. */
    private static void prepare(final long ns) {
        final long prepared = System.nanoTime() + ns;
        while (System.nanoTime() < prepared) {
            Thread.onSpinWait();
        }
    }

    private static void timed(final Runnable call) {
        final long before = System.nanoTime();
        call.run();
        final long ns = System.nanoTime() - before;
        allocationNs += ns;
        longestNs = Math.max(longestNs, ns);
        calls++;
    }

    private static void check(final cudaStream_t copying, final int step) {
        final byte[] last = new byte[1];
        for (int i = 0; i < BUFFERS; i++) {
            JCuda.cudaMemcpyAsync(
                    Pointer.to(last),
                    POINTERS[i].withByteOffset(SIZES[i] - 1L),
                    1,
                    cudaMemcpyKind.cudaMemcpyDeviceToHost,
                    copying);
            JCuda.cudaStreamSynchronize(copying);
            wrong += last[0] == (byte) (step + i) ? 0 : 1;
        }
    }
}
