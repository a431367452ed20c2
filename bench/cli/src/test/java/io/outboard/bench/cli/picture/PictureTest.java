package io.outboard.bench.cli.picture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.trace.Owners;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** These tests check what a picture has of a trace. */
class PictureTest {

    private static Picture of(final Trace trace, final String strategy, final long regionBytes) {
        return new Picture(trace, new Owners(), Strategies.named(strategy), StrategyOptions.DEFAULTS, regionBytes);
    }

    @Test
    void shouldShowEachBlockWhereAndWhileItWas() {
        final Trace trace = new Trace("few", 3, 1 << 20, new long[] {
            Trace.allocation(0, 1000),
            Trace.allocation(1, 300),
            Trace.free(0, 1000),
            Trace.allocation(2, 5000),
            Trace.allocation(0, 10),
            Trace.free(1, 300)
        });
        final Picture picture = of(trace, "hal-first-fit", 1 << 20);

        assertArrayEquals(new int[] {0, 1, 3, 4}, picture.starts);
        assertArrayEquals(new int[] {2, 5, 6, 6}, picture.ends);
        assertArrayEquals(new int[] {0, 4, 6, 0}, picture.offsets);
        assertArrayEquals(new int[] {4, 2, 20, 1}, picture.sizes);
        assertEquals(0, picture.failures);
        assertArrayEquals(new double[] {0, 1, 2, 3, 4, 5}, picture.moments);
        final long granules = (1 << 20) / 256;
        assertArrayEquals(
                new double[] {granules - 4, granules - 6, granules - 2, granules - 22, granules - 23, granules - 21},
                Arrays.stream(picture.free).map(bytes -> bytes / 256).toArray());
        assertEquals((granules - 26) * 256, picture.largestFree[5]);
    }

    /** No two blocks that are in use at the same time overlap. */
    @Test
    void shouldShowNoBlockOnAnother() {
        final Trace trace = Profiles.named("mid", 3000);
        final Picture picture = of(trace, "tlsf", trace.regionBytes());
        for (int i = 0; i < picture.starts.length; i++) {
            for (int j = 0; j < i; j++) {
                final boolean together = picture.ends[j] > picture.starts[i];
                final boolean apart = picture.offsets[i] >= picture.offsets[j] + picture.sizes[j]
                        || picture.offsets[j] >= picture.offsets[i] + picture.sizes[i];
                assertTrue(!together || apart, i + " and " + j);
            }
        }
        assertTrue(picture.moments.length <= 2 * Picture.MOST_MOMENTS);
    }

    @Test
    void shouldCountWhatFindsNoMemory() {
        final Trace trace = new Trace("full", 2, 1 << 20, new long[] {
            Trace.allocation(0, 4096), Trace.allocation(1, 4096), Trace.free(1, 4096)
        });
        final Picture picture = of(trace, "tlsf", 4096);

        assertEquals(1, picture.failures);
        assertArrayEquals(new int[] {0}, picture.starts);
    }

    @Test
    void shouldRefuseARegionThatTheStrategyCannotDivide() {
        final Trace trace = new Trace("one", 1, 1 << 20, new long[] {Trace.allocation(0, 1)});
        assertThrows(WrongUseException.class, () -> of(trace, "tlsf", 100));
    }
}
