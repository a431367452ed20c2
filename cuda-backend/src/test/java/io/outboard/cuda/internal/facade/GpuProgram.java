package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.internal.memory.DriverLibrary;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.cuda.internal.memory.NativeLibrary;
import io.outboard.pool.ReusePolicy;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import jcuda.Pointer;
import jcuda.driver.CUdevice;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaMemcpyKind;
import jcuda.runtime.cudaStream_t;

/** A program on device 0 has facades with a pool of its own, and a kernel that waits before it writes. */
public final class GpuProgram implements AutoCloseable {

    static final long FIRST_REGION_BYTES = 64L << 20;

    /** The cycles of 50 ms or more, since GPUs clock below 2.5 GHz. */
    public static final long LONG_CYCLES = 125_000_000;

    private static final int THREADS = 256;
    private static final int BLOCKS = 16;

    final ContextPools pools = new ContextPools(
            null,
            NativeLibrary::load,
            DriverLibrary::virtualMemory,
            LeasedMemory::connect,
            OutboardOptions::ofProperties);
    final RuntimeFacade runtime = new RuntimeFacade(pools);
    final DriverFacade driver = new DriverFacade(pools);
    private final CUmodule module = new CUmodule();
    private final CUfunction kernel = new CUfunction();
    private boolean reset;

    public GpuProgram(final ReusePolicy reuse) {
        pools.configure(OutboardOptions.defaults()
                .withReuse(reuse)
                .withShare(0.8)
                .withFirstRegionBytes(FIRST_REGION_BYTES)
                .withSlackBytes(0L));
        succeed(runtime.cudaSetDevice(0));
        succeed(JCudaDriver.cuModuleLoadData(module, text("write-after.ptx.gz")));
        succeed(JCudaDriver.cuModuleGetFunction(kernel, module, "writeAfter"));
        // CUDA loads kernels when they are first launched, and may wait for the device then.
        final Pointer scratch = malloc(4096);
        launch(scratch, 4096, 0, 0, new CUstream());
        succeed(JCuda.cudaMemsetAsync(scratch, 0, 4096, new cudaStream_t()));
        succeed(JCuda.cudaDeviceSynchronize());
        succeed(runtime.cudaFree(scratch));
        // The trim takes the blocks out of limbo.
        Objects.requireNonNull(pools.ofThread(true)).pool().trimTo(0);
    }

    /** Returns PTX of the tests; where it wasn't made, the test is skipped. */
    public static String text(final String name) {
        try (InputStream packed = GpuProgram.class.getResourceAsStream("/io/outboard/cuda/" + name)) {
            assumeTrue(packed != null, name + " is missing: needs PTX made by cuda-backend/ptx.sh --all");
            return new String(new GZIPInputStream(packed).readAllBytes(), StandardCharsets.UTF_8);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void succeed(final int code) {
        assertEquals(0, code);
    }

    Pointer malloc(final long sizeBytes) {
        final Pointer pointer = new Pointer();
        succeed(runtime.cudaMalloc(pointer, sizeBytes));
        return pointer;
    }

    CUstream createStream(final int flags) {
        final CUstream stream = new CUstream();
        succeed(JCudaDriver.cuStreamCreate(stream, flags));
        return stream;
    }

    /** Launches a kernel that writes after a number of cycles. */
    public void launch(
            final Pointer data, final long sizeBytes, final int value, final long cycles, final CUstream stream) {
        final Pointer parameters = Pointer.to(
                Pointer.to(data),
                Pointer.to(new int[] {(int) (sizeBytes / Integer.BYTES)}),
                Pointer.to(new int[] {value}),
                Pointer.to(new long[] {cycles}));
        succeed(JCudaDriver.cuLaunchKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, parameters, null));
    }

    /** Returns whether each byte has the value, after all work has finished. */
    public static boolean holds(final Pointer data, final long sizeBytes, final byte value) {
        succeed(JCuda.cudaDeviceSynchronize());
        final byte[] actual = new byte[(int) sizeBytes];
        succeed(JCuda.cudaMemcpy(Pointer.to(actual), data, sizeBytes, cudaMemcpyKind.cudaMemcpyDeviceToHost));
        final byte[] expected = new byte[(int) sizeBytes];
        Arrays.fill(expected, value);
        return Arrays.equals(expected, actual);
    }

    /** Resets the device, with which the module is gone, too. */
    void reset() {
        reset = true;
        succeed(runtime.cudaDeviceReset());
    }

    /** Resets the device by the driver. */
    void resetByDriver(final CUdevice device) {
        reset = true;
        succeed(driver.cuDevicePrimaryCtxReset(device));
    }

    @Override
    public void close() {
        JCuda.cudaDeviceSynchronize();
        if (!reset) {
            JCudaDriver.cuModuleUnload(module);
        }
        for (ContextPool pool = pools.ofDevice(0); pool != null; pool = pools.ofDevice(0)) {
            pool.pool().close();
            pools.contextEnded(pool.context());
        }
        // The next test must not see an error that this one provoked.
        JCuda.cudaGetLastError();
    }
}
