package examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import io.outboard.test.GpuOptions;
import io.outboard.test.OutboardExtension;
import io.outboard.test.SimulatedGpu;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests as users write them. Another test runs them, and knows which must fail, and on which lines. */
public final class Samples {

    private Samples() {}

    /** A program under test, which doesn't know what it runs on. */
    static final class Model {
        private final Pool pool;

        Model(final Pool pool) {
            this.pool = pool;
        }

        long weights(final int count) {
            return pool.allocate(4L * count); // line: weights
        }
    }

    @ExtendWith(OutboardExtension.class)
    static class Green {

        private long before;

        @BeforeEach
        void allocate(final SimulatedGpu gpu) {
            before = gpu.pool().allocate(512);
        }

        @AfterEach
        void free(final SimulatedGpu gpu) {
            gpu.pool().free(before);
        }

        @Test
        void shouldFreeBehindALaunch(final SimulatedGpu gpu) {
            final long a = gpu.pool().allocate(1024);
            gpu.stream(1).launch("fill", memory -> memory.fill(a, 1024, (byte) 7), a);
            gpu.pool().free(a);
        }

        @Test
        void shouldComputeOnTheDevice(final SimulatedGpu gpu) {
            try (DeviceBuffer buffer = gpu.pool().buffer(12)) {
                final long x = buffer.address();
                gpu.memory().writeFloats(x, 1, 2, 3);
                gpu.stream(1).launch("double", memory -> {
                    for (int i = 0; i < 3; i++) {
                        memory.writeFloats(x + 4L * i, 2 * memory.readFloat(x + 4L * i));
                    }
                });
                gpu.stream(1).synchronize();
                assertEquals(6, gpu.memory().readFloat(x + 8));
            }
        }

        @Test
        void shouldNotNeedAGpu() {}
    }

    @ExtendWith(OutboardExtension.class)
    static class Leaking {

        @Test
        void shouldFreeItsWeights(final SimulatedGpu gpu) {
            new Model(gpu.pool()).weights(1000); // line: leak
        }
    }

    @ExtendWith(OutboardExtension.class)
    @GpuOptions(reuse = ReusePolicy.IMMEDIATE)
    static class Hazardous {

        @Test
        void shouldNotFreeUnderAKernel(final SimulatedGpu gpu) {
            final long a = gpu.pool().allocate(1024); // line: hazard allocated
            gpu.stream(1).launch("fill", memory -> memory.fill(a, 1024, (byte) 7), a); // line: hazard launched
            gpu.pool().free(a); // line: hazard freed
        }
    }

    @ExtendWith(OutboardExtension.class)
    @GpuOptions(memoryBytes = 1 << 20)
    static class Exhausting {

        @Test
        void shouldFit(final SimulatedGpu gpu) {
            final long a = gpu.pool().allocate(768 << 10); // line: holder
            final long b = gpu.pool().allocate(512 << 10); // line: exhausted
            gpu.pool().free(b);
            gpu.pool().free(a);
        }
    }

    @ExtendWith(OutboardExtension.class)
    static class Failing {

        @Test
        void shouldReportHazardsOfAFailedTest(final SimulatedGpu gpu) {
            final long a = gpu.pool().allocate(1024);
            gpu.stream(1).launch("overrun", memory -> memory.writeInts(a + 1024, 1));
            throw new IllegalStateException("the test's own");
        }
    }

    @GpuOptions(memoryBytes = 1 << 20)
    static class Outer {

        @Nested
        @ExtendWith(OutboardExtension.class)
        class Inner {

            @Test
            void shouldHaveTheMemoryOfTheClassAround(final SimulatedGpu gpu) {
                gpu.pool().free(gpu.pool().allocate(1 << 20));
                gpu.pool().allocate(2 << 20);
            }

            @Test
            @GpuOptions(memoryBytes = 4 << 20)
            void shouldHaveItsOwn(final SimulatedGpu gpu) {
                gpu.pool().free(gpu.pool().allocate(4 << 20));
            }
        }
    }

    @ExtendWith(OutboardExtension.class)
    static class Constructed {

        Constructed(final SimulatedGpu gpu) {
            assertEquals(0, gpu.requests());
        }

        @Test
        void shouldNotGetThere() {}
    }
}
