package io.outboard.bench.isolated;

import io.outboard.bench.trace.Trace;
import io.outboard.pool.Pool;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What a pool holds of the device. */
final class PoolMemory extends MemoryPass {

    private final Supplier<@Nullable Pool> pool;

    /** {@code pool} has none as long as there is none. */
    PoolMemory(final Supplier<@Nullable Pool> pool, final Target target, final Trace trace) {
        super(target, trace);
        this.pool = pool;
    }

    @Override
    void allocated(final int slot, final long bytes) {}

    @Override
    void freed(final int slot) {}

    @Override
    void peaked() {}

    @Override
    @Nullable
    Long extentBytes() {
        return null;
    }

    @Override
    long regionBytes() {
        final Pool existing = pool.get();
        return existing == null ? 0 : existing.statistics().heldBytes();
    }
}
