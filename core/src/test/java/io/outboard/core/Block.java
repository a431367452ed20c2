package io.outboard.core;

import java.util.ArrayList;
import java.util.List;

/** One block as a walk shows it. */
record Block(long address, long sizeBytes, boolean free) {

    static List<Block> of(final Strategy strategy) {
        final List<Block> blocks = new ArrayList<>();
        strategy.forEachBlock((address, sizeBytes, free) -> blocks.add(new Block(address, sizeBytes, free)));
        return blocks;
    }

    static Block free(final long address, final long sizeBytes) {
        return new Block(address, sizeBytes, true);
    }

    static Block used(final long address, final long sizeBytes) {
        return new Block(address, sizeBytes, false);
    }

    @Override
    public String toString() {
        return (free ? "free" : "used") + "[0x" + Long.toHexString(address) + ", " + sizeBytes + "]";
    }
}
