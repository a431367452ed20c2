package io.outboard.bench.measure.soak;

import io.outboard.bench.cli.trace.SplitMix64;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A thread of a soak allocates and frees blocks at random, lets the device work on them, and passes some to other
 * threads. The device's load changes every half second: none, some kernels, many kernels, and long kernels.
 *
 * @param <B> a block
 */
final class SoakThread<B> {

    private static final long PHASE_NS = 500_000_000;
    private static final long SHORTEST_NS = 1_000;
    private static final long LONGEST_NS = 20_000_000;

    /** One in this many frees leaves the block to the next thread that comes. */
    private static final int EXCHANGE = 8;

    private final Session<B> session;
    private final AtomicReferenceArray<@Nullable B> exchange;
    private final SplitMix64 random;
    private final List<@Nullable B> slots = new ArrayList<>();
    private long liveBytes;
    private long operations;

    /** {@code exchange} holds blocks on their way from one thread to another; all threads share it. */
    SoakThread(final Session<B> session, final AtomicReferenceArray<@Nullable B> exchange, final long seed) {
        this.session = session;
        this.exchange = exchange;
        this.random = new SplitMix64(seed);
        for (int i = 0; i < SoakSettings.SLOTS; i++) {
            slots.add(null);
        }
    }

    /** Does one operation, or two. */
    void step(final long nowNs) {
        final int slot = (int) random.below(SoakSettings.SLOTS);
        final B block = slots.get(slot);
        if (block != null) {
            slots.set(slot, null);
            liveBytes -= session.sizeBytes(block);
            work(block, nowNs);
            leave(block);
        } else {
            final long sizeBytes = logUniform(SoakSettings.SMALLEST_BYTES, SoakSettings.LARGEST_BYTES);
            if (liveBytes + sizeBytes <= SoakSettings.LIVE_BYTES_A_THREAD) {
                final B fresh = session.allocate(sizeBytes);
                operations++;
                slots.set(slot, fresh);
                liveBytes += sizeBytes;
                work(fresh, nowNs);
            }
        }
    }

    private void work(final B block, final long nowNs) {
        final int phase = (int) (nowNs / PHASE_NS) & 3;
        final boolean launches = switch (phase) {
            case 0 -> false;
            case 1 -> random.below(64) == 0;
            case 2 -> random.below(2) == 0;
            default -> random.below(8) == 0;
        };
        if (launches) {
            session.use(block, phase == 3 ? LONGEST_NS : logUniform(SHORTEST_NS, LONGEST_NS));
        }
    }

    private void leave(final B block) {
        final B other =
                random.below(EXCHANGE) == 0 ? exchange.getAndSet((int) random.below(exchange.length()), block) : block;
        if (other != null) {
            session.free(other);
            operations++;
        }
    }

    /** Frees the blocks that this thread has. */
    void freeAll() {
        for (int slot = 0; slot < slots.size(); slot++) {
            final B block = slots.set(slot, null);
            if (block != null) {
                session.free(block);
                operations++;
            }
        }
        liveBytes = 0;
    }

    /** Returns the number of allocations and frees. */
    long operations() {
        return operations;
    }

    private long logUniform(final long least, final long most) {
        return (long) (least * Math.pow((double) most / least, random.unit()));
    }
}
