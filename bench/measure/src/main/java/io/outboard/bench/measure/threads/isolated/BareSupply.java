package io.outboard.bench.measure.threads.isolated;

/**
 * This supply returns numbers instead of blocks, which leaves only the time of the benchmark itself, such as that of
 * handing blocks on.
 */
final class BareSupply implements Supply {

    @Override
    public Blocks blocks() {
        return new Blocks() {

            private long next = NO_BLOCK;

            @Override
            long allocate(final long sizeBytes) {
                next += sizeBytes;
                return next;
            }

            @Override
            void free(final long address) {
                if (address == NO_BLOCK) {
                    throw new IllegalStateException("address=" + address + " must be one that was handed out");
                }
            }
        };
    }

    @Override
    public long heldBytes() {
        return 0;
    }

    @Override
    public long limboBytes() {
        return 0;
    }

    @Override
    public long liveBlocks() {
        return 0;
    }

    @Override
    public long synchronizations() {
        return 0;
    }

    @Override
    public void close() {}
}
