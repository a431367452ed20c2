package io.outboard.bench.measure.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UseRecordTest {

    private static final long BASE = 1L << 40;
    private static final long BYTES = 6L << 20;
    private static final int ANY = UseRecord.ANY_STREAM;

    private final UseRecord record = new UseRecord();

    @ParameterizedTest
    @ValueSource(longs = {-256, 0, 256, BYTES - 256})
    void shouldFindAnOverlapWithABlockInUse(final long offset) {
        record.allocated(BASE, BYTES, ANY, 0);

        final IllegalStateException thrown =
                assertThrows(IllegalStateException.class, () -> record.allocated(BASE + offset, 512, ANY, 0));

        assertTrue(String.valueOf(thrown.getMessage()).contains("which is in use"), thrown.getMessage());
    }

    @Test
    void shouldFindABlockThatIsHandedOutBeforeTheWorkOnItHasEnded() {
        final UseRecord.Use use = record.allocated(BASE, BYTES, ANY, 0);
        use.worksUntil(100);
        record.freed(use, ANY);

        final IllegalStateException thrown =
                assertThrows(IllegalStateException.class, () -> record.allocated(BASE + 1024, 256, ANY, 99));

        assertTrue(String.valueOf(thrown.getMessage()).contains("was handed out 1 ns before"), thrown.getMessage());
        record.allocated(BASE + 2048, 256, ANY, 100);
    }

    @Test
    void shouldAllowReuseInTheOrderOfAStreamAndRememberTheWork() {
        final UseRecord.Use first = record.allocated(BASE, BYTES, 1, 0);
        first.worksUntil(100);
        record.freed(first, 1);
        final UseRecord.Use second = record.allocated(BASE, BYTES, 1, 10);
        record.freed(second, 1);

        assertThrows(IllegalStateException.class, () -> record.allocated(BASE, BYTES, 2, 50));
    }

    @Test
    void shouldCountWhatIsLive() {
        final UseRecord.Use first = record.allocated(BASE, 1000, ANY, 0);
        record.allocated(BASE + 1024, 500, ANY, 0);
        record.freed(first, ANY);
        record.allocated(BASE, 200, ANY, 0);

        assertEquals(700, record.liveBytes());
        assertEquals(1500, record.peakLiveBytes());
    }
}
