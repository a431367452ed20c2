package examples.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.outboard.pool.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** A model whose tensors lie in a pool gives what it gives without. */
class PoolAllocatorTest {

    private static final int LAYERS = 6;
    private static final int WIDTH = 96;
    private static final int ROUNDS = 200;
    private static final int THREADS = 4;
    private static final float NEAR = 1e-3f;

    private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
    private final Random random = new Random(11);
    private final float[][][] layers = new float[LAYERS][][];
    private final byte[] model;

    PoolAllocatorTest() {
        for (int i = 0; i < LAYERS; i++) {
            layers[i] = matrix(WIDTH, WIDTH);
        }
        model = OnnxModel.of(layers);
    }

    private float[][] matrix(final int rows, final int columns) {
        final float[][] matrix = new float[rows][columns];
        for (final float[] row : matrix) {
            for (int i = 0; i < columns; i++) {
                row[i] = (random.nextFloat() - 0.5f) / 4;
            }
        }
        return matrix;
    }

    /** What the model means. */
    private float[][] expected(final float[][] input) {
        float[][] rows = input;
        for (final float[][] layer : layers) {
            final float[][] next = new float[rows.length][WIDTH];
            for (int row = 0; row < rows.length; row++) {
                for (int column = 0; column < WIDTH; column++) {
                    float sum = 0;
                    for (int i = 0; i < WIDTH; i++) {
                        sum += rows[row][i] * layer[i][column];
                    }
                    next[row][column] = Math.max(0, sum);
                }
            }
            rows = next;
        }
        return rows;
    }

    private OrtSession session(final boolean pooled) throws OrtException {
        try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
            if (pooled) {
                options.addConfigEntry("session.use_env_allocators", "1");
            }
            return environment.createSession(model, options);
        }
    }

    private void checkRun(final OrtSession session, final float[][] input, final float[][] expected)
            throws OrtException {
        try (OnnxTensor tensor = OnnxTensor.createTensor(environment, input);
                OrtSession.Result result = session.run(Map.of("x", tensor))) {
            final float[][] output = (float[][]) result.get(0).getValue();
            assertEquals(expected.length, output.length);
            for (int row = 0; row < expected.length; row++) {
                assertArrayEquals(expected[row], output[row], NEAR);
            }
        }
    }

    private static Pool pool() {
        return Pool.over(new HostMemory(1L << 30)).firstRegionBytes(1L << 20).build();
    }

    @Test
    void shouldGiveTheSameResultsFromAPool(final TestReporter reporter) throws OrtException {
        try (Pool pool = pool();
                PoolAllocator allocator = PoolAllocator.register(environment, pool)) {
            try (OrtSession session = session(true)) {
                for (int round = 0; round < ROUNDS; round++) {
                    final float[][] input = matrix(1 + round % 17, WIDTH);
                    checkRun(session, input, expected(input));
                }
                assertTrue(allocator.allocations() >= ROUNDS, () -> "allocations: " + allocator.allocations());
                assertEquals(0, allocator.refused());
            }
            reporter.publishEntry("allocations", String.valueOf(allocator.allocations()));
            assertEquals(0, pool.statistics().liveBlocks());
        }
    }

    @Test
    void shouldLeaveSessionsAloneThatDoNotAsk() throws OrtException {
        try (Pool pool = pool();
                PoolAllocator allocator = PoolAllocator.register(environment, pool);
                OrtSession session = session(false)) {
            final float[][] input = matrix(3, WIDTH);
            checkRun(session, input, expected(input));
            assertEquals(0, allocator.allocations());
        }
    }

    @Test
    void shouldServeThreads() throws Exception {
        try (Pool pool = pool();
                PoolAllocator allocator = PoolAllocator.register(environment, pool)) {
            try (OrtSession session = session(true)) {
                final float[][] input = matrix(8, WIDTH);
                final float[][] expected = expected(input);
                final AtomicReference<Throwable> thrown = new AtomicReference<>();
                final List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    threads.add(new Thread(() -> {
                        try {
                            for (int round = 0; round < ROUNDS; round++) {
                                checkRun(session, input, expected);
                            }
                        } catch (final OrtException | RuntimeException | Error e) {
                            thrown.set(e);
                        }
                    }));
                }
                threads.forEach(Thread::start);
                for (final Thread thread : threads) {
                    thread.join();
                }
                assertNull(thrown.get());
                assertTrue(allocator.allocations() >= THREADS * ROUNDS);
            }
            assertEquals(0, pool.statistics().liveBlocks());
        }
    }

    @Test
    void shouldBeRefusedTwice() {
        try (Pool pool = pool();
                PoolAllocator first = PoolAllocator.register(environment, pool)) {
            assertEquals(0, first.allocations());
            final IllegalStateException thrown =
                    assertThrows(IllegalStateException.class, () -> PoolAllocator.register(environment, pool));
            assertTrue(String.valueOf(thrown.getMessage()).startsWith("ONNX Runtime: "), thrown::getMessage);
        }
    }
}
