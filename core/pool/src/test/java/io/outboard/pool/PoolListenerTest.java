package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.pool.simulated.SimulatedDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** These tests say what a pool's listener hears, and in which order. */
class PoolListenerTest {

    private static final long MIB = 1L << 20;
    private static final long STREAM = 5;

    private static final class Heard implements PoolListener {
        private final List<String> calls = new ArrayList<>();
        private @Nullable RuntimeException refusal;

        @Override
        public void allocating(final long sizeBytes) {
            if (refusal != null) {
                throw refusal;
            }
            calls.add("allocating " + sizeBytes);
        }

        @Override
        public void allocated(final long address, final long sizeBytes, final long stream) {
            calls.add("allocated " + address + " " + sizeBytes + " " + stream);
        }

        @Override
        public void refused(final long sizeBytes, final DeviceOutOfMemoryException exception) {
            calls.add("refused " + sizeBytes + " " + exception.requestedBytes());
        }

        @Override
        public void freeing(final long address, final long stream) {
            calls.add("freeing " + address + " " + stream);
        }

        @Override
        public void resized(final long address, final long newSizeBytes) {
            calls.add("resized " + address + " " + newSizeBytes);
        }
    }

    private final Heard heard = new Heard();
    private final Pool pool = Pool.over(new FailingMemorySource(4 * MIB))
            .reuse(ReusePolicy.STREAM_ORDERED, new SimulatedDevice())
            .listener(heard)
            .build();

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void shouldHearOfBlocksWithTheirStreams() {
        final long plain = pool.allocate(1000);
        final long aligned = pool.allocate(1000, 4096);
        final long ordered = pool.allocateAsync(2000, STREAM);
        pool.free(plain);
        pool.free(aligned);
        pool.freeAsync(ordered, STREAM);

        assertEquals(
                List.of(
                        "allocating 1000",
                        "allocated " + plain + " 1000 " + PoolListener.NO_STREAM,
                        "allocating 1000",
                        "allocated " + aligned + " 1000 " + PoolListener.NO_STREAM,
                        "allocating 2000",
                        "allocated " + ordered + " 2000 " + STREAM,
                        "freeing " + plain + " " + PoolListener.NO_STREAM,
                        "freeing " + aligned + " " + PoolListener.NO_STREAM,
                        "freeing " + ordered + " " + STREAM),
                heard.calls);
    }

    @Test
    void shouldHearOfBuffers() {
        final DeviceBuffer buffer = pool.bufferAsync(500, STREAM);
        final long address = buffer.address();
        buffer.close();
        buffer.close();

        assertEquals(
                List.of(
                        "allocating 500",
                        "allocated " + address + " 500 " + STREAM,
                        "freeing " + address + " " + STREAM),
                heard.calls);
    }

    @Test
    void shouldHearOfNewSizes() {
        final long address = pool.allocate(4096);
        heard.calls.clear();

        pool.trim(address, 1024);
        pool.extend(address, 1024);

        assertEquals(List.of("resized " + address + " 1024", "resized " + address + " 1024"), heard.calls);
    }

    @Test
    void shouldHearOfRequestsWithoutMemory() {
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(8 * MIB));

        assertEquals(List.of("allocating " + 8 * MIB, "refused " + 8 * MIB + " " + 8 * MIB), heard.calls);
    }

    @Test
    void shouldRefuseWhatTheListenerRefuses() {
        heard.refusal = new IllegalStateException("refused by the listener");

        assertSame(heard.refusal, assertThrows(IllegalStateException.class, () -> pool.allocate(1000)));
        assertEquals(0, pool.statistics().liveBlocks());
        assertEquals(List.of(), heard.calls);
    }

    @Test
    void shouldHearOfAFreeThatThePoolRefuses() {
        pool.free(pool.allocate(1000));
        heard.calls.clear();

        assertThrows(InvalidAddressException.class, () -> pool.free(1));
        assertEquals(List.of("freeing 1 " + PoolListener.NO_STREAM), heard.calls);
    }

    @Test
    void shouldHearOfBlocksAfterARecording(@TempDir final Path folder) throws IOException {
        pool.record(folder.resolve("recording")).close();
        heard.calls.clear();

        pool.free(pool.allocate(1000));

        assertEquals(3, heard.calls.size(), heard.calls::toString);
    }

    @Test
    void shouldTellItsPolicy() {
        assertEquals(ReusePolicy.STREAM_ORDERED, pool.reusePolicy());
    }
}
