package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.pool.DeviceWork;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import io.outboard.pool.ReusePolicy;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import jcuda.runtime.cudaError;
import org.junit.jupiter.api.Test;

/** This class tests that a pool over a simulated device is safe by default. */
class CudaPoolTest {

    private static final long REGION_BYTES = 64L << 20;

    private final FakeCuda cuda = new FakeCuda(2);
    private final CudaMemorySource source = CudaMemorySource.open(cuda, 1);

    /**
     * The number of times that somebody asked whether the kernel has finished; from the fourth time on the answer is
     * yes.
     */
    private final AtomicInteger asked = new AtomicInteger();

    private void launch() {
        cuda.setDevice(1);
        final long context = cuda.currentContextOrZero();
        final long stream = cuda.streams().createStream(context, false);
        cuda.streams().submit(context, stream, () -> asked.incrementAndGet() > 3);
    }

    private boolean hasFinished() {
        return asked.get() > 3;
    }

    @Test
    void shouldWaitForAKernelBeforeItHandsItsMemoryOn() {
        try (CudaPool gpu = CudaPool.over(source, CudaPoolTest::small)) {
            final long block = gpu.pool().allocate(REGION_BYTES);
            launch();
            gpu.pool().free(block);

            assertEquals(block, gpu.pool().allocate(REGION_BYTES));
            assertTrue(hasFinished(), "handed on while a kernel may use it");
        }
    }

    @Test
    void shouldBeStrictOverADevice() {
        try (source;
                Pool pool = Pool.over(source)
                        .firstRegionBytes(REGION_BYTES)
                        .limitBytes(REGION_BYTES)
                        .build()) {
            final long block = pool.allocate(REGION_BYTES);
            launch();
            pool.free(block);

            assertEquals(block, pool.allocate(REGION_BYTES));
            assertTrue(hasFinished(), "handed on while a kernel may use it");
        }
    }

    @Test
    void shouldRefuseToKnowNothingOfTheDevice() {
        for (final ReusePolicy policy : ReusePolicy.values()) {
            if (policy != ReusePolicy.IMMEDIATE) {
                final PoolBuilder builder = Pool.over(source).reuse(policy, DeviceWork.NONE);

                assertThrows(IllegalArgumentException.class, builder::build, policy.name());
            }
        }
        source.close();
    }

    @Test
    void shouldAskTheWorkOfTheSource() {
        try (CudaPool gpu = CudaPool.over(source, builder -> builder.reuse(ReusePolicy.TRACKED))) {
            gpu.pool().free(gpu.pool().allocate(1));

            assertAll(
                    () -> assertSame(source, gpu.source()),
                    () -> assertSame(source.work(), gpu.work()),
                    () -> assertFalse(gpu.work().isCapturing()));
        }
    }

    /** The capture is on a stream that doesn't block, where the pool couldn't see it. */
    @Test
    void shouldLeaveACaptureAloneThatIsAnnounced() {
        try (CudaPool gpu = CudaPool.over(source, CudaPoolTest::small)) {
            cuda.setDevice(1);
            final long stream = cuda.streams().createStream(cuda.currentContextOrZero(), false);
            final long block = gpu.pool().allocate(REGION_BYTES);
            final CudaWork.Capture capture = gpu.capture(stream);
            assertThrows(IllegalStateException.class, () -> gpu.capture(stream));
            assertEquals(0, cuda.streams().beginCapture(stream));
            gpu.pool().free(block);
            assertThrows(DeviceOutOfMemoryException.class, () -> gpu.pool().allocate(REGION_BYTES));
            assertTrue(gpu.work().isCapturing());
            assertTrue(cuda.streams().endCapture(stream), "the capture is whole");
            capture.close();
            capture.close();

            assertEquals(block, gpu.pool().allocate(REGION_BYTES));
        }
    }

    @Test
    void shouldGiveItsEventsBack() {
        CudaPool.over(source, CudaPoolTest::small).close();

        assertEquals(0, cuda.streams().eventsOut());
    }

    @Test
    void shouldCloseTheSourceWhenItCannotBeMade() {
        assertThrows(
                IllegalArgumentException.class,
                () -> CudaPool.over(source, builder -> builder.reuse(ReusePolicy.STRICT, DeviceWork.NONE)));

        assertThrows(IllegalStateException.class, () -> source.take(1));
    }

    @Test
    void shouldCloseTheSourceAfterThePoolTwice() {
        final CudaPool gpu = CudaPool.over(source, CudaPoolTest::small);
        gpu.pool().allocate(1);

        gpu.close();
        gpu.close();

        assertAll(
                () -> assertEquals(0, cuda.usedBytes(1)),
                () -> assertThrows(IllegalStateException.class, () -> source.take(1)),
                () -> assertThrows(IllegalStateException.class, () -> gpu.pool().allocate(1)));
    }

    @Test
    void shouldCloseTheSourceAlsoWhenThePoolFailsTo() {
        final CudaPool gpu = CudaPool.over(source, CudaPoolTest::small);
        gpu.pool().allocate(1);
        cuda.failAt(1, cudaError.cudaErrorIllegalAddress);

        assertThrows(CudaFailureException.class, gpu::close);

        assertThrows(IllegalStateException.class, () -> source.take(1));
    }

    @Test
    void shouldSayWhatCudaSaidWhenThePoolIsOutOfMemory() {
        try (CudaPool gpu = CudaPool.over(source, builder -> builder.name("gpu1"))) {
            final DeviceOutOfMemoryException thrown =
                    assertThrows(DeviceOutOfMemoryException.class, () -> gpu.buffer(2 * FakeCuda.TOTAL_BYTES));

            final Throwable cause = Objects.requireNonNull(thrown.getCause());
            assertTrue(
                    String.valueOf(cause.getMessage()).endsWith("(cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2))"),
                    cause::toString);
            assertTrue(String.valueOf(thrown.getMessage()).startsWith("pool gpu1 full: requested "), thrown::toString);
        }
    }

    @Test
    void shouldReadAsItsPoolAndDevice() {
        try (CudaPool gpu = CudaPool.over(source, builder -> builder.name("gpu1"))) {
            assertEquals(gpu.pool() + " on device 1", gpu.toString());
            assertTrue(
                    gpu.toString().startsWith("pool gpu1 [strict, tlsf, 0 regions, 0 bytes, no limit: "),
                    gpu::toString);
        }
    }

    @Test
    void shouldRefuseADeviceThatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> CudaPool.open(-1));
    }

    private static void small(final PoolBuilder builder) {
        builder.firstRegionBytes(REGION_BYTES).limitBytes(REGION_BYTES);
    }
}
