package io.outboard.hal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.core.SeedFromSystemProperties;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;
import org.jspecify.annotations.Nullable;

/**
 * Random operations run on two lists that share a pool, and each list is compared with a sorted map after every step.
 * The pool is made for few entries, so it's often full, and must have a chunk whenever a list needs one.
 */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class HybridArrayListProperties {

    private static final int NONE = HybridArrayList.NONE;

    @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
    void shouldBehaveAsASortedMapInChunksOfFour(@ForAll("operations") final List<Operation> operations) {
        compare(4, operations);
    }

    @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
    void shouldBehaveAsASortedMapInChunksOfEight(@ForAll("operations") final List<Operation> operations) {
        compare(8, operations);
    }

    @Property(tries = 30, edgeCases = EdgeCasesMode.NONE)
    void shouldBehaveAsASortedMapInChunksOfAPage(@ForAll("operations") final List<Operation> operations) {
        compare(ChunkPool.PAGE, operations);
    }

    private static void compare(final int capacity, final List<Operation> operations) {
        final Pair pair = new Pair(capacity);
        int step = 0;
        for (final Operation operation : operations) {
            try {
                pair.apply(operation);
                pair.check();
            } catch (final AssertionError | RuntimeException failure) {
                throw new AssertionError("step " + step + ", " + operation + ": " + failure.getMessage(), failure);
            }
            step++;
        }
    }

    @Provide
    Arbitrary<List<Operation>> operations() {
        final Arbitrary<Long> keys =
                Arbitraries.longs().between(0, (1L << 32) - 1).withDistribution(RandomDistribution.uniform());
        return Combinators.combine(
                        Arbitraries.of(Kind.class),
                        Arbitraries.of(false, true),
                        Arbitraries.integers().between(1, 64).withDistribution(RandomDistribution.uniform()),
                        keys,
                        Arbitraries.of(1L, 3L, 1000L, 0x9E3779B9L),
                        Arbitraries.oneOf(keys, Arbitraries.longs().between(1, 16)))
                .as(Operation::new)
                .list()
                .ofMaxSize(100)
                .withSizeDistribution(RandomDistribution.uniform());
    }

    enum Kind {
        INSERT,
        INSERT_MORE,
        REMOVE_UPWARDS,
        REMOVE_SPACED,
        SET,
        FIND
    }

    /**
     * An operation is one step on one of the lists.
     *
     * @param kind what to do
     * @param second whether the second list is meant
     * @param part how many times, in 64ths of two chunks
     * @param key where to start
     * @param stride distance between keys
     * @param value the value of the entries, unsigned
     */
    record Operation(Kind kind, boolean second, int part, long key, long stride, long value) {}

    private static final class Pair {

        private final int maxEntries;
        private final ChunkPool pool;
        private final HybridArrayList[] lists;
        private final List<NavigableMap<Long, Integer>> models = List.of(new TreeMap<>(), new TreeMap<>());

        Pair(final int capacity) {
            maxEntries = 8 * capacity + 1;
            pool = new ChunkPool(maxEntries, 2, capacity);
            lists = new HybridArrayList[] {new HybridArrayList(pool), new HybridArrayList(pool)};
        }

        void apply(final Operation operation) {
            final HybridArrayList list = lists[operation.second ? 1 : 0];
            final NavigableMap<Long, Integer> model = models.get(operation.second ? 1 : 0);
            final int times = Math.max(1, operation.part * pool.capacity / 32);
            for (int i = 0; i < times; i++) {
                final long key = (operation.key + i * operation.stride) & 0xFFFFFFFFL;
                final int value = (int) (operation.value * (i + 1));
                switch (operation.kind) {
                    case INSERT, INSERT_MORE -> insert(list, model, key, value);
                    case REMOVE_UPWARDS -> remove(list, model, operation.key);
                    case REMOVE_SPACED -> remove(list, model, key);
                    case SET -> set(list, model, key, value);
                    case FIND -> find(list, model, key, value);
                }
            }
        }

        private void insert(
                final HybridArrayList list, final NavigableMap<Long, Integer> model, final long key, final int value) {
            if (!model.containsKey(key) && lists[0].size() + lists[1].size() < maxEntries) {
                list.insertAfter(list.search((int) key), (int) key, value);
                model.put(key, value);
            }
        }

        /** Removes the first entry from a key on. */
        private static void remove(
                final HybridArrayList list, final NavigableMap<Long, Integer> model, final long key) {
            final Long removed = model.ceilingKey(key);
            if (removed != null) {
                list.remove(list.search((int) (long) removed));
                model.remove(removed);
            }
        }

        /** Moves the last entry up to a key to that key. */
        private static void set(
                final HybridArrayList list, final NavigableMap<Long, Integer> model, final long key, final int value) {
            final Long changed = model.floorKey(key);
            if (changed != null) {
                list.set(list.search((int) key), (int) key, value);
                model.remove(changed);
                model.put(key, value);
            }
        }

        private static void find(
                final HybridArrayList list, final NavigableMap<Long, Integer> model, final long key, final int value) {
            final int cursor = list.search((int) key);
            assertEntry(model.floorEntry(key), list, cursor);
            if (cursor != NONE) {
                assertEntry(
                        firstAtLeast(model.tailMap(model.floorKey(key)), value),
                        list,
                        list.firstAtLeast(cursor, value));
            }
            if (value != 0) {
                assertEntry(leastAtLeast(model, value), list, list.leastAtLeast(value));
            }
        }

        private static Map.@Nullable Entry<Long, Integer> firstAtLeast(
                final Map<Long, Integer> entries, final int value) {
            return entries.entrySet().stream()
                    .filter(entry -> Integer.compareUnsigned(entry.getValue(), value) >= 0)
                    .findFirst()
                    .orElse(null);
        }

        private static Map.@Nullable Entry<Long, Integer> leastAtLeast(
                final Map<Long, Integer> entries, final int value) {
            Map.@Nullable Entry<Long, Integer> least = null;
            for (final Map.Entry<Long, Integer> entry : entries.entrySet()) {
                if (Integer.compareUnsigned(entry.getValue(), value) >= 0
                        && (least == null || Integer.compareUnsigned(entry.getValue(), least.getValue()) < 0)) {
                    least = entry;
                }
            }
            return least;
        }

        private static void assertEntry(
                final Map.@Nullable Entry<Long, Integer> expected, final HybridArrayList list, final int cursor) {
            if (expected == null) {
                assertEquals(NONE, cursor);
            } else {
                assertEquals(expected.getKey(), Integer.toUnsignedLong(list.key(cursor)));
                assertEquals(expected.getValue(), list.value(cursor));
            }
        }

        void check() {
            int chunks = pool.unusedChunks();
            for (int i = 0; i < lists.length; i++) {
                HybridArrayListChecks.check(pool, lists[i]);
                assertEquals(entries(models.get(i)), upwards(lists[i]), "upwards");
                assertEquals(entries(models.get(i).descendingMap()), downwards(lists[i]), "downwards");
                chunks +=
                        Math.max(1, HybridArrayListChecks.chunks(pool, lists[i]).size());
            }
            assertEquals(pool.entries.length / (2 * pool.capacity), chunks, "chunks in lists and unused");
        }

        private static List<Long> entries(final Map<Long, Integer> model) {
            final List<Long> entries = new ArrayList<>();
            model.forEach((key, value) -> entries.add(key << 32 | Integer.toUnsignedLong(value)));
            return entries;
        }

        private static List<Long> upwards(final HybridArrayList list) {
            final List<Long> entries = new ArrayList<>();
            for (int cursor = list.first(); cursor != NONE; cursor = list.next(cursor)) {
                entries.add((long) list.key(cursor) << 32 | Integer.toUnsignedLong(list.value(cursor)));
            }
            return entries;
        }

        private static List<Long> downwards(final HybridArrayList list) {
            final List<Long> entries = new ArrayList<>();
            for (int cursor = list.last(); cursor != NONE; cursor = list.previous(cursor)) {
                entries.add((long) list.key(cursor) << 32 | Integer.toUnsignedLong(list.value(cursor)));
            }
            return entries;
        }
    }
}
