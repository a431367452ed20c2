package examples;

import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;

/**
 * Some threads launch kernels, each on a stream of its own, and one thread allocates and frees beside them, from
 * nothing to {@value #LIVE} buffers. The driver prefers the launches: beside enough of them {@code cudaMalloc} takes
 * seconds, or doesn't return.
 *
 * <pre>java ... examples.LaunchesBeside LAUNCHERS KERNEL_MICROSECONDS WAIT_AFTER [ALLOCATIONS [SECONDS]]</pre>
 *
 * <p>A launching thread waits for its stream after WAIT_AFTER kernels, 0 for never. The first allocation is reported
 * apart, since it makes a pool where there is one. After SECONDS the rest is left undone. The output is one line, with
 * times in microseconds.
 */
public final class LaunchesBeside {

    private static final int LIVE = 64;
    private static final int LEAST_BYTES = 256;
    private static final int MOST_BYTES = 4 << 20;
    private static final long WARM_MILLIS = 300;

    private final int launchers;
    private final long kernelMicros;
    private final int waitAfter;
    private final int allocations;
    private final long seconds;

    private final CUcontext context = new CUcontext();
    private final CUfunction spin = new CUfunction();
    private final LongAdder launched = new LongAdder();
    private final long[] allocateNs;
    private final long[] freeNs;
    private volatile int allocated;
    private int freed;

    private LaunchesBeside(final String... args) {
        launchers = Integer.parseInt(args[0]);
        kernelMicros = Long.parseLong(args[1]);
        waitAfter = Integer.parseInt(args[2]);
        allocations = args.length > 3 ? Integer.parseInt(args[3]) : 100_000;
        seconds = args.length > 4 ? Long.parseLong(args[4]) : 8;
        allocateNs = new long[allocations];
        freeNs = new long[allocations];
    }

    public static void main(final String... args) throws InterruptedException {
        JCuda.setExceptionsEnabled(true);
        JCudaDriver.setExceptionsEnabled(true);
        JCuda.cudaSetDevice(0);
        JCuda.cudaFree(new Pointer());
        System.out.println(new LaunchesBeside(args).run());
        System.out.flush();
        // A normal exit would wait for a thread that is in the driver.
        Runtime.getRuntime().halt(0);
    }

    private String run() throws InterruptedException {
        JCudaDriver.cuCtxGetCurrent(context);
        final CUmodule module = new CUmodule();
        JCudaDriver.cuModuleLoadData(module, KernelsInFlight.SPIN);
        JCudaDriver.cuModuleGetFunction(spin, module, "spin");
        final CUstream[] streams = new CUstream[launchers];
        for (int i = 0; i < launchers; i++) {
            streams[i] = new CUstream();
            JCudaDriver.cuStreamCreate(streams[i], CUstream_flags.CU_STREAM_NON_BLOCKING);
            launch(streams[i], Pointer.to(Pointer.to(new long[1])));
        }
        JCuda.cudaDeviceSynchronize();
        for (final CUstream stream : streams) {
            start(() -> launchAll(stream));
        }
        Thread.sleep(WARM_MILLIS);
        final long launchedBefore = launched.sum();
        final long start = System.nanoTime();
        start(this::allocateAll).join(TimeUnit.SECONDS.toMillis(seconds));
        final double elapsed = (System.nanoTime() - start) / 1e9;
        final int done = allocated;
        return String.format(
                Locale.ROOT,
                "%d launch, kernel %d us, wait after %d: %.3f M launches/s; %s%d allocations in %.2f s, first %.0f, %s; free %s",
                launchers,
                kernelMicros,
                waitAfter,
                (launched.sum() - launchedBefore) / elapsed / 1e6,
                done == allocations ? "" : "NOT DONE, ",
                done,
                elapsed,
                done == 0 ? Double.NaN : allocateNs[0] / 1e3,
                percentiles(Arrays.copyOfRange(allocateNs, Math.min(1, done), done)),
                percentiles(Arrays.copyOf(freeNs, Math.max(0, Math.min(freed, done - 1)))));
    }

    private static Thread start(final Runnable work) {
        final Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void launchAll(final CUstream stream) {
        JCudaDriver.cuCtxSetCurrent(context);
        final Pointer parameters = Pointer.to(Pointer.to(new long[] {TimeUnit.MICROSECONDS.toNanos(kernelMicros)}));
        for (long count = 1; ; count++) {
            launch(stream, parameters);
            launched.increment();
            if (waitAfter > 0 && count % waitAfter == 0) {
                JCudaDriver.cuStreamSynchronize(stream);
            }
        }
    }

    private void launch(final CUstream stream, final Pointer parameters) {
        JCudaDriver.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, null);
    }

    private void allocateAll() {
        JCudaDriver.cuCtxSetCurrent(context);
        final Random random = new Random(7);
        final Pointer[] live = new Pointer[LIVE];
        for (int i = 0; i < allocations; i++) {
            final int slot = random.nextInt(LIVE);
            if (live[slot] != null) {
                final long before = System.nanoTime();
                JCuda.cudaFree(live[slot]);
                freeNs[freed++] = System.nanoTime() - before;
            }
            final long bytes = (long) (LEAST_BYTES * Math.pow((double) MOST_BYTES / LEAST_BYTES, random.nextDouble()));
            live[slot] = new Pointer();
            final long before = System.nanoTime();
            JCuda.cudaMalloc(live[slot], bytes);
            allocateNs[i] = System.nanoTime() - before;
            // The count is volatile, so that whoever reads it sees what was written before.
            allocated = i + 1;
        }
    }

    /** Sorts {@code ns}, and returns its percentiles. */
    private static String percentiles(final long... ns) {
        if (ns.length == 0) {
            return "none";
        }
        Arrays.sort(ns);
        return String.format(
                Locale.ROOT,
                "p50 %.2f p99 %.1f p99.9 %.1f max %.0f",
                ns[ns.length / 2] / 1e3,
                ns[(int) (ns.length * 0.99)] / 1e3,
                ns[(int) (ns.length * 0.999)] / 1e3,
                ns[ns.length - 1] / 1e3);
    }
}
