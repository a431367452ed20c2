package io.outboard.pool;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keeps the largest of the blocks that it is shown, few as they may be. Confined to one thread. */
final class LargestHolders {

    private static final int KEPT = 8;

    private final List<Holder> holders = new ArrayList<>();

    void add(final long address, final long sizeBytes) {
        holders.add(new Holder(address, sizeBytes));
        if (holders.size() == 2 * KEPT) {
            keepLargest();
        }
    }

    /** Largest first, with their sites: slow, so not under the pool's lock. */
    List<Holder> list(final @Nullable LeakTracker tracker) {
        keepLargest();
        if (tracker != null) {
            holders.replaceAll(
                    holder -> new Holder(holder.address(), holder.sizeBytes(), tracker.siteAt(holder.address())));
        }
        return List.copyOf(holders);
    }

    private void keepLargest() {
        holders.sort(Comparator.comparingLong(Holder::sizeBytes).reversed());
        holders.subList(Math.min(KEPT, holders.size()), holders.size()).clear();
    }
}
