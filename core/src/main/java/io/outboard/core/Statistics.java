package io.outboard.core;

/**
 * Statistics tell the state of one strategy's region at one moment.
 *
 * @param regionBytes size of the region, in bytes
 * @param freeBytes bytes in free blocks
 * @param largestFreeBlockBytes size of the largest free block, in bytes; 0 if none is free
 * @param extentBytes distance from the region's first byte to the end of its last block in use, in bytes
 * @param liveBlocks blocks in use
 * @param freeBlocks free blocks
 * @param hostBytes host memory that the strategy holds, in bytes
 */
public record Statistics(
        long regionBytes,
        long freeBytes,
        long largestFreeBlockBytes,
        long extentBytes,
        int liveBlocks,
        int freeBlocks,
        long hostBytes) {

    /**
     * Counts the blocks of a strategy. O(blocks), two walks with a little garbage: for diagnosis and measurement.
     *
     * @param strategy confined to the calling thread
     * @return its state now; of a {@link SlabStrategy} the largest free block is one that no slab is divided into
     */
    public static Statistics of(final Strategy strategy) {
        final Region region = strategy.region();
        final Counter all = new Counter(region.address());
        strategy.forEachBlock(all);
        final Counter undivided = new Counter(region.address());
        SlabStrategy.forEachUndivided(strategy, undivided);
        return new Statistics(
                region.sizeBytes(),
                all.freeBytes,
                undivided.largestFreeBytes,
                all.end - region.address(),
                all.liveBlocks,
                all.freeBlocks,
                strategy.hostBytes());
    }

    /**
     * Computes external fragmentation by equation 3 of Vinkler and Havran (2014): one less the largest free block's
     * share of what is free.
     *
     * @return 0 (all free memory in one block, or none free) up to nearly 1
     */
    public double externalFragmentation() {
        return freeBytes == 0 ? 0.0 : 1.0 - (double) largestFreeBlockBytes / freeBytes;
    }

    /**
     * Writes the state as a person reads it.
     *
     * @return one line
     */
    @Override
    public String toString() {
        return "region " + ByteSize.exact(regionBytes) + ", free " + ByteSize.exact(freeBytes) + " in " + freeBlocks
                + " blocks, largest free block " + ByteSize.exact(largestFreeBlockBytes) + ", external fragmentation "
                + Math.round(1000 * externalFragmentation()) / 1000.0 + ", in use " + liveBlocks + " blocks, extent "
                + ByteSize.exact(extentBytes);
    }

    private static final class Counter implements BlockVisitor {

        private long freeBytes;
        private long largestFreeBytes;
        private long end;
        private int liveBlocks;
        private int freeBlocks;

        Counter(final long regionAddress) {
            end = regionAddress;
        }

        @Override
        public void visit(final long address, final long sizeBytes, final boolean free) {
            if (free) {
                freeBlocks++;
                freeBytes += sizeBytes;
                largestFreeBytes = Math.max(largestFreeBytes, sizeBytes);
            } else {
                liveBlocks++;
                end = address + sizeBytes;
            }
        }
    }
}
