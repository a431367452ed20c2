package io.outboard.hal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * These tests cover special cases: no entry, keys and values with the sign bit set, chunks that split and merge, and as
 * many entries as the list may have.
 */
class HybridArrayListTest {

    private static final int NONE = HybridArrayList.NONE;
    private static final int CAPACITY = 8;

    private final ChunkPool pool = new ChunkPool(100, 2, CAPACITY);
    private final HybridArrayList list = new HybridArrayList(pool);

    @Test
    void shouldHaveNoEntryAtFirst() {
        assertEquals(0, list.size());
        assertEquals(NONE, list.first());
        assertEquals(NONE, list.last());
        assertEquals(NONE, list.next(NONE));
        assertEquals(NONE, list.previous(NONE));
        assertEquals(NONE, list.search(0));
        assertEquals(NONE, list.search(-1));
        assertEquals(NONE, list.firstAtLeast(NONE, 1));
        assertEquals(NONE, list.leastAtLeast(1));
    }

    @Test
    void shouldFindNothingOfWhatWasRemoved() {
        insert(0, 7);
        list.remove(list.first());

        assertEquals(NONE, list.search(-1));
        assertEquals(NONE, list.leastAtLeast(7));
    }

    /**
     * The search makes the bound exact. Otherwise, a chunk would be searched again and again for a value that it had
     * once.
     */
    @Test
    void shouldKnowTheLargestValueOfAChunkThatWasSearchedInVain() {
        insert(10, 5);
        insert(20, 9);
        final int chunk = pool.chunkOf(list.first());

        list.set(list.last(), 20, 3);
        assertEquals(9, pool.headers[chunk + ChunkPool.LARGEST]);
        assertEquals(NONE, list.firstAtLeast(list.first(), 7));
        assertEquals(5, pool.headers[chunk + ChunkPool.LARGEST]);

        list.set(list.first(), 10, 2);
        assertEquals(NONE, list.leastAtLeast(4));
        assertEquals(3, pool.headers[chunk + ChunkPool.LARGEST]);
    }

    /**
     * The chunk that becomes unused is chained to the previous unused one. Nothing may be merged with an unused chunk.
     */
    @Test
    void shouldMergeOnceWhenTheLastButOneChunkGoes() {
        final ChunkPool few = new ChunkPool(7, 1, 4);
        final HybridArrayList sorted = new HybridArrayList(few);
        for (int key = 1; key <= 7; key++) {
            sorted.insertAfter(sorted.last(), key, 10 * key);
        }
        assertEquals(1, few.unusedChunks());

        sorted.remove(sorted.search(3));

        assertEquals(2, few.unusedChunks());
        assertEquals(7, sorted.key(sorted.last()));
        assertEquals(4, sorted.key(sorted.search(4)));
        assertEquals(6, sorted.size());
    }

    @Test
    void shouldFindTheGreatestKeyThatIsNotGreater() {
        insert(10, 1);
        insert(20, 2);

        assertEquals(NONE, list.search(9));
        assertEquals(1, list.value(list.search(10)));
        assertEquals(1, list.value(list.search(19)));
        assertEquals(2, list.value(list.search(20)));
        assertEquals(2, list.value(list.search(-1)));
    }

    @Test
    void shouldOrderKeysAsUnsigned() {
        insert(-1, 4);
        insert(Integer.MIN_VALUE, 3);
        insert(Integer.MAX_VALUE, 2);
        insert(0, 1);

        assertEquals(0, list.key(list.first()));
        assertEquals(-1, list.key(list.last()));
        assertEquals(Integer.MAX_VALUE, list.key(list.search(Integer.MIN_VALUE - 1)));
        assertEquals(Integer.MIN_VALUE, list.key(list.search(-2)));
        HybridArrayListChecks.check(pool, list);
    }

    @Test
    void shouldCompareValuesAsUnsigned() {
        insert(1, 5);
        insert(2, -1);
        insert(3, Integer.MIN_VALUE);
        insert(4, Integer.MAX_VALUE);

        assertEquals(2, list.key(list.firstAtLeast(list.first(), 6)));
        assertEquals(1, list.key(list.leastAtLeast(1)));
        assertEquals(4, list.key(list.leastAtLeast(6)));
        assertEquals(3, list.key(list.leastAtLeast(Integer.MIN_VALUE)));
        assertEquals(2, list.key(list.leastAtLeast(Integer.MIN_VALUE + 1)));
        assertEquals(2, list.key(list.leastAtLeast(-1)));
    }

    @Test
    void shouldFindTheFirstAmongEquallyGoodValues() {
        for (int key = 0; key < 3 * CAPACITY; key++) {
            insert(key, key % 5 == 3 ? 6 : 9);
        }

        assertEquals(3, list.key(list.leastAtLeast(5)));
        assertEquals(0, list.key(list.leastAtLeast(7)));
        assertEquals(NONE, list.leastAtLeast(10));
    }

    @Test
    void shouldFindValuesAfterOthersThatWereSearchedInVain() {
        fill(2 * CAPACITY);
        assertEquals(NONE, list.firstAtLeast(list.first(), 3));

        list.set(list.search(5), 5, 4);

        assertEquals(5, list.key(list.firstAtLeast(list.first(), 3)));
        assertEquals(5, list.key(list.leastAtLeast(3)));
    }

    @Test
    void shouldSplitAChunkThatOverflowsIntoHalves() {
        fill(CAPACITY);
        assertEquals(1, chunks());

        insert(CAPACITY, 1);

        assertEquals(2, chunks());
        assertEquals(pool.base(pool.chunkOf(list.first())) + CAPACITY / 2 - 1, list.search(CAPACITY / 2 - 1));
        HybridArrayListChecks.check(pool, list);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 4, 5, 8})
    void shouldKeepOrderWhereverTheChunkOverflows(final int index) {
        for (int i = 0; i < CAPACITY; i++) {
            insert(10 * i + 10, 1);
        }

        insert(10 * index + 5, 2);

        assertEquals(2, list.value(list.search(10 * index + 9)));
        assertEquals(CAPACITY + 1, list.size());
        HybridArrayListChecks.check(pool, list);
    }

    @Test
    void shouldMergeChunksThatTogetherFillThreeQuarters() {
        fill(CAPACITY + 1);
        for (int left = CAPACITY; left > 6; left--) {
            list.remove(list.first());
            assertEquals(2, chunks());
        }

        list.remove(list.first());

        assertEquals(1, chunks());
        HybridArrayListChecks.check(pool, list);
    }

    @Test
    void shouldStepAcrossChunksBothWays() {
        fill(3 * CAPACITY);
        int cursor = list.first();
        for (int key = 0; key < 3 * CAPACITY; key++) {
            assertEquals(key, list.key(cursor));
            assertEquals(key == 0 ? NONE : list.search(key - 1), list.previous(cursor));
            cursor = list.next(cursor);
        }
        assertEquals(NONE, cursor);
    }

    @Test
    void shouldGiveAllChunksButOneBack() {
        final int unused = pool.unusedChunks();
        fill(5 * CAPACITY);
        assertTrue(pool.unusedChunks() < unused);

        while (list.size() != 0) {
            list.remove(list.last());
        }

        assertEquals(unused, pool.unusedChunks());
        insert(3, 4);
        assertEquals(4, list.value(list.search(3)));
        HybridArrayListChecks.check(pool, list);
    }

    /** In two lists, neighbours are as sparse as possible, and the pool is made for exactly as many entries. */
    @ParameterizedTest
    @ValueSource(ints = {4, 8, ChunkPool.PAGE})
    void shouldNotRunOutOfChunksBeforeEntries(final int capacity) {
        final int maxEntries = 40 * capacity;
        final ChunkPool sparse = new ChunkPool(maxEntries, 2, capacity);
        final HybridArrayList one = new HybridArrayList(sparse);
        final HybridArrayList other = new HybridArrayList(sparse);
        int key = 0;
        for (int round = 0; round < 10; round++) {
            thinOut(sparse, one);
            thinOut(sparse, other);
            while (one.size() + other.size() < maxEntries) {
                final HybridArrayList list = one.size() < maxEntries / 2 ? one : other;
                list.insertAfter(list.last(), key++, 1);
            }
            HybridArrayListChecks.check(sparse, one);
            HybridArrayListChecks.check(sparse, other);
        }

        assertTrue(sparse.unusedChunks() <= 5, () -> "not sparse, " + sparse.unusedChunks() + " chunks unused");
    }

    /** Takes entries from every second chunk, until it would merge with a neighbour if it had one less. */
    private static void thinOut(final ChunkPool pool, final HybridArrayList list) {
        final List<Integer> chunks = HybridArrayListChecks.chunks(pool, list);
        for (int i = 1; i + 1 < chunks.size(); i += 2) {
            final int neighbour = Math.min(
                    pool.headers[chunks.get(i - 1) + ChunkPool.COUNT],
                    pool.headers[chunks.get(i + 1) + ChunkPool.COUNT]);
            while (pool.headers[chunks.get(i) + ChunkPool.COUNT] + neighbour > pool.maxMerged() + 1) {
                list.remove(pool.base(chunks.get(i)));
            }
        }
    }

    @Test
    void shouldTakeAtMost24BytesForEachEntry() {
        final int maxEntries = 1 << 18;

        assertTrue(new ChunkPool(maxEntries, 2, ChunkPool.PAGE).hostBytes() <= 24L * maxEntries);
    }

    private void fill(final int count) {
        for (int key = 0; key < count; key++) {
            insert(key, 1);
        }
    }

    private void insert(final int key, final int value) {
        list.insertAfter(list.search(key), key, value);
    }

    private int chunks() {
        return HybridArrayListChecks.chunks(pool, list).size();
    }
}
