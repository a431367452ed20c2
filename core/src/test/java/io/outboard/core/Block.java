package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;

/** A block is recorded here as a walk shows it. */
public record Block(long address, long sizeBytes, boolean free) {

    public static List<Block> of(final Strategy strategy) {
        final List<Block> blocks = new ArrayList<>();
        strategy.forEachBlock((address, sizeBytes, free) -> blocks.add(new Block(address, sizeBytes, free)));
        return blocks;
    }

    /** Returns the blocks as they would be if free neighbours merged. */
    public static List<Block> merged(final List<Block> blocks) {
        final List<Block> merged = new ArrayList<>();
        for (final Block block : blocks) {
            final Block last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
            if (last != null && last.free() && block.free()) {
                assertEquals(last.address() + last.sizeBytes(), block.address(), "start of a free block");
                merged.set(merged.size() - 1, Block.free(last.address(), last.sizeBytes() + block.sizeBytes()));
            } else {
                merged.add(block);
            }
        }
        return merged;
    }

    public static Block free(final long address, final long sizeBytes) {
        return new Block(address, sizeBytes, true);
    }

    public static Block used(final long address, final long sizeBytes) {
        return new Block(address, sizeBytes, false);
    }

    @Override
    public String toString() {
        return (free ? "free" : "used") + "[0x" + Long.toHexString(address) + ", " + sizeBytes + "]";
    }
}
