package io.outboard.bench.measure.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.outboard.core.SeedFromSystemProperties;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/** This class compares the model with a map of the intervals, which answers every question in the simplest way. */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class IntervalModelProperties {

    private final TreeMap<Long, Long> sizes = new TreeMap<>();
    private final Map<Long, Integer> slots = new HashMap<>();

    @Property(tries = 150, edgeCases = EdgeCasesMode.NONE)
    void shouldKnowWhatIsTaken(
            @ForAll @LongRange(min = 1, max = 300) final long granules,
            @ForAll @Size(max = 600) final List<Integer> numbers) {
        compare(granules, 1, numbers);
    }

    /** There are enough intervals for several leaves, which divide and merge. */
    @Property(tries = 50, edgeCases = EdgeCasesMode.NONE)
    void shouldKnowWhatIsTakenWithManyIntervals(@ForAll @Size(min = 1000, max = 2000) final List<Integer> numbers) {
        compare((1L << 32) - 1, 1L << 22, numbers);
    }

    private void compare(final long granules, final long scale, final List<Integer> numbers) {
        final IntervalModel model = new IntervalModel(granules);
        sizes.clear();
        slots.clear();
        final int half = numbers.size() / 2;
        for (int step = 0; step < numbers.size(); step++) {
            // Intervals are mostly added in the first half, and mostly removed in the second.
            final boolean mostlyAdd = step < half;
            final long number = numbers.get(step) * 0x9E3779B97F4A7C15L;
            final int kind = (int) (number >>> 61);
            final long place = Long.remainderUnsigned(number << 3, granules);
            final long size = 1 + (number >>> 20 & 3) * scale / 4;
            if (kind == 7 || sizes.isEmpty() || (kind < 5) == mostlyAdd) {
                add(model, place, size);
            } else if (kind == 6) {
                resize(model, start(place), size);
            } else {
                final long start = start(place);
                model.remove(slot(start));
                sizes.remove(start);
            }
            if (scale == 1 || step % 50 == 0) {
                check(model, size);
            }
        }
    }

    private long start(final long place) {
        final Long start = sizes.floorKey(place);
        return start == null ? sizes.firstKey() : start;
    }

    private int slot(final long start) {
        return slots.getOrDefault(start, IntervalModel.NONE);
    }

    private void add(final IntervalModel model, final long start, final long size) {
        final Map.Entry<Long, Long> before = sizes.lowerEntry(start + size);
        final boolean isFree =
                start + size <= model.granules() && (before == null || before.getKey() + before.getValue() <= start);
        final int slot = model.add(start, size);
        assertEquals(isFree, slot != IntervalModel.NONE);
        if (isFree) {
            sizes.put(start, size);
            slots.put(start, slot);
        }
    }

    private void resize(final IntervalModel model, final long start, final long size) {
        final boolean isFree = start + size <= end(sizes.higherKey(start), model);
        assertEquals(isFree, model.resize(slot(start), size));
        if (isFree) {
            sizes.put(start, size);
        }
    }

    private static long end(final Long next, final IntervalModel model) {
        return next == null ? model.granules() : next;
    }

    private void check(final IntervalModel model, final long alignment) {
        final long mask = Long.highestOneBit(alignment) - 1;
        long free = 0;
        long largest = 0;
        long largestAligned = 0;
        int gaps = 0;
        long end = 0;
        sizes.put(model.granules(), 0L);
        for (final Map.Entry<Long, Long> block : sizes.entrySet()) {
            final long room = block.getKey() - end;
            free += room;
            largest = Math.max(largest, room);
            largestAligned = Math.max(largestAligned, room - (-(end + 5) & mask));
            gaps += room == 0 ? 0 : 1;
            end = block.getKey() + block.getValue();
        }
        sizes.remove(model.granules());
        assertEquals(free, model.freeGranules());
        assertEquals(gaps, model.gaps());
        assertEquals(sizes.size(), model.blocks());
        assertEquals(largestAligned > 0, model.fits(1, mask, 5));
        assertEquals(largestAligned >= alignment, model.fits(alignment, mask, 5));
        assertEquals(largest, model.largestGap());
        final int[] order = new int[IntervalModel.MOST_SLOTS];
        assertEquals(sizes.size(), model.slotsInOrder(order));
        int at = 0;
        for (final Map.Entry<Long, Long> block : sizes.entrySet()) {
            final int slot = order[at++];
            assertEquals(block.getKey(), model.start(slot));
            assertEquals(block.getValue(), model.size(slot));
            assertEquals(slot, model.startingAt(block.getKey()));
            assertNotEquals(slot, model.startingAt(block.getKey() + 1));
            assertEquals(
                    end(sizes.higherKey(block.getKey()), model) - block.getKey() - block.getValue(),
                    model.roomBehind(slot));
        }
    }
}
