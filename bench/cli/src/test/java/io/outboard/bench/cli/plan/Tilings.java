package io.outboard.bench.cli.plan;

import io.outboard.bench.cli.trace.Trace;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * This class makes traces of the shape of MiniMalloc's eleven challenges: some hundred blocks in a region of 1 MiB,
 * with sizes and times that are multiples of 1 KiB. A square of memory and time is cut into rectangles, again and
 * again. A few rectangles are left out, because in the challenges the peak of live bytes is some 1 % less than the
 * region. So a placement that fills the region exactly is known to exist. If none are left out, which is the default,
 * the whole region is live all the time, and no region can be smaller.
 */
final class Tilings {

    static final long CAPACITY_BYTES = 1 << 20;
    static final long GRANULE = 1024;

    private static final int SIDE = (int) (CAPACITY_BYTES / GRANULE);

    private record Rectangle(int from, int to, int bottom, int top) {

        long area() {
            return (long) (to - from) * (top - bottom);
        }
    }

    private record Event(int time, boolean isAllocation, int slot, int size) {}

    private Tilings() {}

    /**
     * Makes a trace of the given number of blocks. Some blocks are left out until at most a part of the region is live
     * at a time; 1 leaves none out.
     */
    static Trace of(final int blocks, final double mostLive, final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final List<Rectangle> tiles = new ArrayList<>(List.of(new Rectangle(0, SIDE, 0, SIDE)));
        while (tiles.size() < blocks) {
            cutOne(tiles, random);
        }
        for (int time = 0; time < SIDE; time++) {
            while (live(tiles, time) > mostLive * SIDE) {
                final int now = time;
                final List<Rectangle> there = tiles.stream()
                        .filter(tile -> tile.from() <= now && now < tile.to())
                        .toList();
                tiles.remove(there.get(random.nextInt(there.size())));
            }
        }
        return trace(tiles);
    }

    private static long live(final List<Rectangle> tiles, final int time) {
        return tiles.stream()
                .filter(tile -> tile.from() <= time && time < tile.to())
                .mapToLong(tile -> tile.top() - tile.bottom())
                .sum();
    }

    /** Cuts one of the larger rectangles, across or along; as in the challenges, many blocks are long and flat. */
    private static void cutOne(final List<Rectangle> tiles, final SplittableRandom random) {
        int chosen = random.nextInt(tiles.size());
        for (int i = 0; i < 3; i++) {
            final int other = random.nextInt(tiles.size());
            chosen = tiles.get(other).area() > tiles.get(chosen).area() ? other : chosen;
        }
        final Rectangle tile = tiles.get(chosen);
        final boolean inTime = random.nextInt(5) < 2;
        final int length = inTime ? tile.to() - tile.from() : tile.top() - tile.bottom();
        if (length < 2) {
            return;
        }
        final int at = 1 + random.nextInt(length - 1);
        tiles.set(
                chosen,
                inTime
                        ? new Rectangle(tile.from(), tile.from() + at, tile.bottom(), tile.top())
                        : new Rectangle(tile.from(), tile.to(), tile.bottom(), tile.bottom() + at));
        tiles.add(
                inTime
                        ? new Rectangle(tile.from() + at, tile.to(), tile.bottom(), tile.top())
                        : new Rectangle(tile.from(), tile.to(), tile.bottom() + at, tile.top()));
    }

    /**
     * Makes a trace in which blocks that end at a time are freed before blocks that begin then are allocated. The order
     * of slots doesn't follow the known offsets.
     */
    private static Trace trace(final List<Rectangle> tiles) {
        final List<Event> events = new ArrayList<>();
        for (int slot = 0; slot < tiles.size(); slot++) {
            final Rectangle tile = tiles.get(slot);
            final int size = tile.top() - tile.bottom();
            events.add(new Event(tile.from(), true, slot, size));
            events.add(new Event(tile.to(), false, slot, size));
        }
        events.sort(Comparator.comparingInt(Event::time).thenComparing(Event::isAllocation));
        final long[] operations = events.stream()
                .mapToLong(event -> event.isAllocation()
                        ? Trace.allocation(event.slot(), event.size() * GRANULE)
                        : Trace.free(event.slot(), event.size() * GRANULE))
                .toArray();
        return new Trace("tiling", tiles.size(), CAPACITY_BYTES, operations);
    }
}
