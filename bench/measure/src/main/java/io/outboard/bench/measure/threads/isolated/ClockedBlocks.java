package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.cli.common.Latencies;

/** The class times each operation, with a recorder for this thread alone. */
final class ClockedBlocks extends Blocks {

    private final Blocks blocks;
    private final Latencies allocate;
    private final Latencies free;

    ClockedBlocks(final Blocks blocks, final Latencies allocate, final Latencies free) {
        this.blocks = blocks;
        this.allocate = allocate;
        this.free = free;
    }

    @Override
    long allocate(final long sizeBytes) {
        final long before = System.nanoTime();
        final long address = blocks.allocate(sizeBytes);
        allocate.record(System.nanoTime() - before);
        return address;
    }

    @Override
    void free(final long address) {
        final long before = System.nanoTime();
        blocks.free(address);
        free.record(System.nanoTime() - before);
    }
}
