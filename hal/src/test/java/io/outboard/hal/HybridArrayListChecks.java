package io.outboard.hal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;

/** These checks look into the chunks of a list. */
final class HybridArrayListChecks {

    private HybridArrayListChecks() {}

    /** Checks order, links both ways, first keys, bounds of values, and that no two neighbours are sparse. */
    static void check(final ChunkPool pool, final HybridArrayList list) {
        final List<Integer> chunks = chunks(pool, list);
        int entries = 0;
        long lastKey = -1;
        int previous = ChunkPool.NONE;
        for (final int chunk : chunks) {
            final int count = header(pool, chunk, ChunkPool.COUNT);
            assertEquals(previous, header(pool, chunk, ChunkPool.PREVIOUS), "previous");
            if (previous == ChunkPool.NONE) {
                assertEquals(0, header(pool, chunk, ChunkPool.FIRST), "first key of the first chunk");
            } else {
                assertEquals(pool.entries[pool.base(chunk)], header(pool, chunk, ChunkPool.FIRST), "first key");
                assertTrue(count + header(pool, previous, ChunkPool.COUNT) > pool.maxMerged(), "sparse neighbours");
            }
            assertTrue(count > 0 && count <= pool.capacity, "count=" + count);
            final int largest = header(pool, chunk, ChunkPool.LARGEST);
            for (int i = pool.base(chunk); i < pool.base(chunk) + count; i++) {
                final long key = Integer.toUnsignedLong(pool.entries[i]);
                assertTrue(key > lastKey, "order");
                assertTrue(Integer.compareUnsigned(pool.entries[i + pool.capacity], largest) <= 0, "largest");
                lastKey = key;
            }
            entries += count;
            previous = chunk;
        }
        assertEquals(list.size(), entries, "entries in chunks");
        if (!chunks.isEmpty()) {
            assertEquals(previous, pool.chunkOf(list.last()), "last chunk");
        }
    }

    /** Returns a list's chunks that hold entries. */
    static List<Integer> chunks(final ChunkPool pool, final HybridArrayList list) {
        final List<Integer> chunks = new ArrayList<>();
        if (list.size() != 0) {
            int chunk = pool.chunkOf(list.first());
            while (chunk != ChunkPool.NONE) {
                chunks.add(chunk);
                chunk = header(pool, chunk, ChunkPool.NEXT);
            }
        }
        return chunks;
    }

    private static int header(final ChunkPool pool, final int chunk, final int field) {
        return pool.headers[chunk + field];
    }
}
