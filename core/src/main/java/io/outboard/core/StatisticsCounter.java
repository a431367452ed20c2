package io.outboard.core;

/** Adds up what {@link Strategy#statistics} reports. */
final class StatisticsCounter implements BlockVisitor {

    private final long regionAddress;
    private long freeBytes;
    private long extentBytes;
    private int liveBlocks;
    private int freeBlocks;

    StatisticsCounter(final long regionAddress) {
        this.regionAddress = regionAddress;
    }

    @Override
    public void visit(final long address, final long sizeBytes, final boolean free) {
        if (free) {
            freeBlocks++;
            freeBytes += sizeBytes;
        } else {
            liveBlocks++;
            extentBytes = address + sizeBytes - regionAddress;
        }
    }

    Statistics statistics(final long regionBytes, final long largestFreeBlockBytes, final long hostBytes) {
        return new Statistics(
                regionBytes, freeBytes, largestFreeBlockBytes, extentBytes, liveBlocks, freeBlocks, hostBytes);
    }
}
