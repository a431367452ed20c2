package io.outboard.cuda;

import static io.outboard.cuda.internal.facade.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.driver.DevicePointers;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUgraph;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaMemcpyKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The device writes where it mustn't, and the pool finds that; a program without faults goes on as before. Twins
 * without a GPU are {@code PoisonCheckTest} and {@code FacadePoisonTest}.
 */
@Tag("gpu")
class PoisonGpuTest {

    private static final long MIB = 1L << 20;
    private static final int ROUNDS = 500;
    private static final int STREAMS = 4;
    private static final int VALUE = 7;

    /** The kernel writes an int after some nanoseconds. */
    private static final String WRITE_LATE = """
            .version 6.0
            .target sm_50
            .address_size 64

            .visible .entry writeLate(.param .u64 address, .param .u32 value, .param .u64 nanoseconds)
            {
                .reg .pred %p<2>;
                .reg .b32 %r<2>;
                .reg .b64 %rd<7>;

                ld.param.u64 %rd1, [nanoseconds];
                mov.u64 %rd2, %globaltimer;
            again:
                mov.u64 %rd3, %globaltimer;
                sub.u64 %rd4, %rd3, %rd2;
                setp.lt.u64 %p1, %rd4, %rd1;
                @%p1 bra again;
                ld.param.u64 %rd5, [address];
                ld.param.u32 %r1, [value];
                cvta.to.global.u64 %rd6, %rd5;
                st.global.u32 [%rd6], %r1;
                ret;
            }
            """;

    private final Queue<String> found = new ConcurrentLinkedQueue<>();
    private final CUmodule module = new CUmodule();
    private final CUfunction writeLate = new CUfunction();
    private final CUstream[] streams = new CUstream[STREAMS];

    @BeforeEach
    void open() {
        Gpu.require();
        succeed(JCuda.cudaSetDevice(0));
        succeed(JCuda.cudaFree(new Pointer()));
        succeed(JCudaDriver.cuModuleLoadData(module, WRITE_LATE));
        succeed(JCudaDriver.cuModuleGetFunction(writeLate, module, "writeLate"));
        for (int i = 0; i < STREAMS; i++) {
            streams[i] = new CUstream();
            succeed(JCudaDriver.cuStreamCreate(streams[i], CUstream_flags.CU_STREAM_NON_BLOCKING));
        }
    }

    @AfterEach
    void close() {
        if (streams[STREAMS - 1] == null) {
            // There is no GPU, or it doesn't work.
            return;
        }
        for (final CUstream stream : streams) {
            JCudaDriver.cuStreamDestroy(stream);
        }
        JCudaDriver.cuModuleUnload(module);
        JCuda.cudaGetLastError();
    }

    private CudaPool pool(final ReusePolicy policy) {
        return CudaPool.open(
                0,
                builder -> builder.reuse(policy)
                        .firstRegionBytes(16 * MIB)
                        .check(each -> found.add(each.address() + " " + each.sizeBytes() + " " + each.offsetBytes())));
    }

    private void launch(final long address, final long nanoseconds, final CUstream stream) {
        final Pointer parameters = Pointer.to(
                Pointer.to(new long[] {address}), Pointer.to(new int[] {VALUE}), Pointer.to(new long[] {nanoseconds}));
        succeed(JCudaDriver.cuLaunchKernel(writeLate, 1, 1, 1, 1, 1, 1, 0, stream, parameters, null));
    }

    private static void fill(final long address, final long sizeBytes, final CUstream stream) {
        final CUdeviceptr pointer = new CUdeviceptr();
        DevicePointers.set(pointer, address);
        succeed(JCudaDriver.cuMemsetD8Async(pointer, (byte) VALUE, sizeBytes, stream));
    }

    @ParameterizedTest
    @EnumSource
    void shouldFindAWriteBehindTheEndOfABlock(final ReusePolicy policy) {
        try (CudaPool gpu = pool(policy)) {
            final Pool pool = gpu.pool();
            final long set = pool.allocate(1000);
            final long written = pool.allocateAsync(5000, DevicePointers.handle(streams[1]));
            fill(set, 1001, streams[0]);
            // The kernel writes after the call of the free.
            launch(written + 5004, 20_000_000, streams[1]);

            pool.free(set);
            pool.freeAsync(written, DevicePointers.handle(streams[1]));

            assertEquals(List.of(set + " 1000 1000", written + " 5000 5004"), List.copyOf(found));
        }
        assertEquals(2, found.size());
    }

    @ParameterizedTest
    @EnumSource
    void shouldFindAWriteAfterTheFree(final ReusePolicy policy) {
        final long set;
        final long written;
        try (CudaPool gpu = pool(policy)) {
            final Pool pool = gpu.pool();
            set = pool.allocate(1000);
            written = pool.allocate(3 * MIB);
            pool.free(set);
            pool.free(written);

            fill(set + 10, 5, streams[0]);
            launch(written + 2 * MIB, 0, streams[1]);
            succeed(JCuda.cudaDeviceSynchronize());

            // What is free goes back to the device, as far as it can.
            pool.trimTo(0);
            pool.checkMemory();
            assertEquals(2, found.size(), found::toString);
            assertTrue(found.contains(set + " 1000 10"), found::toString);
            assertTrue(found.contains(written + " " + 3 * MIB + " " + 2 * MIB), found::toString);
        }
        assertEquals(2, found.size());
    }

    @ParameterizedTest
    @EnumSource
    void shouldFindNothingInACleanProgram(final ReusePolicy policy) {
        final SplittableRandom random = new SplittableRandom(7);
        final float[] first = new float[1];
        try (CudaPool gpu = pool(policy)) {
            final Pool pool = gpu.pool();
            for (int round = 0; round < ROUNDS; round++) {
                final CUstream stream = streams[random.nextInt(STREAMS)];
                final long handle = DevicePointers.handle(stream);
                final long ints = 1 + random.nextLong(random.nextInt(20) == 0 ? 8 * MIB : 4096);
                final boolean ordered = random.nextBoolean();
                final long address = ordered ? pool.allocateAsync(4 * ints, handle) : pool.allocate(4 * ints);
                succeed(JCuda.cudaMemcpy(
                        Pointer.to(first),
                        DevicePointers.pointerTo(address + 4 * ints - 4),
                        Float.BYTES,
                        cudaMemcpyKind.cudaMemcpyDeviceToHost));
                assertTrue(Float.isNaN(first[0]));
                fill(address, 4 * ints, stream);
                launch(address + 4 * ints - 4, random.nextLong(200_000), stream);
                if (ordered) {
                    pool.freeAsync(address, handle);
                } else {
                    pool.free(address);
                }
                if (round % 100 == 99) {
                    pool.trimTo(0);
                }
            }
        }
        assertEquals(List.of(), List.copyOf(found));
    }

    @Test
    void shouldNotBreakACapture() {
        try (CudaPool gpu = pool(ReusePolicy.STRICT)) {
            final Pool pool = gpu.pool();
            final long captured = pool.allocate(MIB);
            final long other = pool.allocate(MIB);
            final CUgraph graph = new CUgraph();
            final CudaWork.Capture capture = gpu.capture(DevicePointers.handle(streams[0]));
            succeed(JCudaDriver.cuStreamBeginCapture(streams[0], CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL));
            fill(captured, MIB, streams[0]);
            pool.free(other);
            pool.free(pool.allocate(1000));
            pool.checkMemory();
            succeed(JCudaDriver.cuStreamEndCapture(streams[0], graph));
            capture.close();
            succeed(JCudaDriver.cuGraphDestroy(graph));
            pool.free(captured);
        }
        assertEquals(List.of(), List.copyOf(found));
    }
}
