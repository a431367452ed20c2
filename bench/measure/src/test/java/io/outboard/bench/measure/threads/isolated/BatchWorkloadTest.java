package io.outboard.bench.measure.threads.isolated;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.bench.cli.measurement.ThreadProfile;
import io.outboard.bench.measure.threads.ThreadSettings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BatchWorkloadTest {

    private static final ThreadSettings SETTINGS = new ThreadSettings(
            ThreadProfile.XMALLOC,
            ThreadSettings.Kind.POOL,
            "tlsf",
            "STRICT",
            ThreadSettings.NO_DEVICE,
            0,
            1,
            1,
            0,
            256,
            1 << 20,
            20,
            10);

    /** If more blocks were freed, the other thread would fail, too, and be blamed for the failure. */
    @Test
    void shouldFreeWhatAFailedThreadLeftAndNoMore() {
        final int served = 3;
        final List<Long> freed = new ArrayList<>();
        final Round round = new Round();
        final Blocks blocks = new Blocks() {
            private long last;

            @Override
            long allocate(final long sizeBytes) {
                if (last == served) {
                    throw new IllegalStateException("no more");
                }
                return ++last;
            }

            @Override
            void free(final long address) {
                freed.add(address);
                if (freed.size() == served) {
                    round.end();
                }
            }
        };
        final BatchWorkload workload = new BatchWorkload(SETTINGS);

        assertThrows(IllegalStateException.class, () -> workload.work(0, blocks, round, new Workload.Tally()));
        assertEquals(List.of(), freed);
        assertDoesNotThrow(() -> workload.work(1, blocks, round, new Workload.Tally()));

        assertEquals(List.of(1L, 2L, 3L), freed);
    }
}
