package io.outboard.cuda.kernels;

import java.util.ArrayList;
import java.util.List;

/**
 * This record tells what an {@link ObjectHeap} holds, as {@link ObjectHeap#statistics} found. Immutable, so safe for
 * any number of threads.
 *
 * @param blockBytes size of a block, in bytes
 * @param blocks all blocks
 * @param freeBlocks blocks of no type
 * @param misuses objects that were destroyed twice, as far as the heap found out
 * @param types what the heap holds of each type that has objects, in the order of the builder
 */
public record ObjectHeapStatistics(
        int blockBytes, long blocks, long freeBlocks, long misuses, List<ObjectHeapStatistics.Type> types) {

    /** The number of words that the counting kernel leaves. */
    static final int WORDS = 2 * 16 + 2;

    static ObjectHeapStatistics of(final ObjectLayout layout, final long blocks, final long... words) {
        final List<Type> types = new ArrayList<>();
        for (int i = 0; i < layout.types().size(); i++) {
            types.add(new Type(layout.types().get(i).name(), layout.slots().get(i), words[2 * i], words[2 * i + 1]));
        }
        return new ObjectHeapStatistics(
                layout.blockBytes(), blocks, words[WORDS - 2], words[WORDS - 1], List.copyOf(types));
    }

    /**
     * This record counts the objects of one type.
     *
     * @param name as it was given to the builder
     * @param slots objects of a block, from 1 to 64
     * @param blocks that are of the type
     * @param objects number of objects of the type
     */
    public record Type(String name, int slots, long blocks, long objects) {

        /**
         * Answers how full the blocks are; Springer 2019 calls the difference to 1 fragmentation.
         *
         * @return a share of their slots, {@code 0 < fill <= 1}; 1 if there are no blocks
         */
        public double fill() {
            return blocks == 0 ? 1 : (double) objects / (blocks * slots);
        }
    }
}
