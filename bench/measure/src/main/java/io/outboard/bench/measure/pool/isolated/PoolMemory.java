package io.outboard.bench.measure.pool.isolated;

import io.outboard.bench.cli.isolated.MemoryPass;
import io.outboard.bench.cli.isolated.Target;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.pool.Pool;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** This pass measures what a pool holds of the device. */
final class PoolMemory extends MemoryPass {

    private final Supplier<@Nullable Pool> pool;

    /** {@code pool} returns null as long as there is no pool. */
    PoolMemory(final Supplier<@Nullable Pool> pool, final Target target, final Trace trace) {
        super(target, trace, true);
        this.pool = pool;
    }

    @Override
    protected void allocated(final int slot, final long bytes) {}

    @Override
    protected void freed(final int slot) {}

    @Override
    protected void peaked() {}

    @Override
    @Nullable
    protected Long extentBytes() {
        return null;
    }

    @Override
    protected long regionBytes() {
        final Pool existing = pool.get();
        return existing == null ? 0 : existing.statistics().heldBytes();
    }
}
