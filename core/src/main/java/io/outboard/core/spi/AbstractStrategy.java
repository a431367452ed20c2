package io.outboard.core.spi;

import io.outboard.core.BlockVisitor;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;

/**
 * This class does what strategies have in common: it counts one region in granules, checks arguments, and turns bytes
 * and addresses into granules and back. A strategy that extends it works on offsets alone and finds every argument
 * checked.
 *
 * <p>Offsets count granules from the start of the region, in ints that are unsigned, so a region has up to 2^32 - 1
 * granules; the bytes after the last whole one are lost. Sizes count granules, in longs.
 *
 * <p>Thread-safety: confined to one thread. Cost: a few comparisons and shifts a call, no host memory for each block.
 * When nothing fits, a strategy returns {@link #NO_SPACE}. The class is public for strategies in other modules, not for
 * applications.
 */
public abstract class AbstractStrategy implements Strategy {

    /**
     * The value that {@link #withdraw} returns when there is no block to retire; names of retired blocks aren't
     * negative.
     */
    protected static final long NO_BLOCK = -1;

    private final Region region;
    private final long regionAddress;
    private final long regionBytes;
    private final long granuleMask;
    private final int granuleLog2;
    private long freeGranules;

    /**
     * Takes a region over, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options the granule
     * @throws IllegalArgumentException if the region is outside of these bounds
     */
    protected AbstractStrategy(final Region region, final StrategyOptions options) {
        granuleMask = options.granuleBytes() - 1;
        granuleLog2 = Long.numberOfTrailingZeros(options.granuleBytes());
        freeGranules = region.sizeBytes() >>> granuleLog2;
        Arguments.checkRegion(region, freeGranules, options.granuleBytes());
        this.region = region;
        regionAddress = region.address();
        regionBytes = freeGranules << granuleLog2;
    }

    // What a strategy supplies

    /**
     * Takes a block.
     *
     * @param size granules, what {@link #blockSize} answered
     * @return where it starts, in granules from the start of the region, or {@link #NO_SPACE}
     */
    protected abstract long place(long size);

    /**
     * Takes a block that starts at an aligned address; {@link #padding} tells where one is.
     *
     * @param size granules, what {@link #blockSize} answered
     * @param alignmentMask an aligned address, counted in granules, has none of these bits; not 0
     * @return where it starts, in granules from the start of the region, or {@link #NO_SPACE}
     */
    protected abstract long placeAligned(long size, long alignmentMask);

    /**
     * Ends a block.
     *
     * @param start granules from the start of the region, unsigned; any int
     * @return its size in granules, or 0 if no block in use starts there and nothing changed
     */
    protected abstract long end(int start);

    /**
     * Retires a block: none starts there from now on, but the memory stays taken. The block leaves the table that
     * finds blocks by their start as the last step, so that no error in the middle loses it.
     *
     * @param start granules from the start of the region, unsigned; any int
     * @return what names it from now on, from 0 to 2^48 - 1, or {@link #NO_BLOCK} if no block in use starts there and
     *     nothing changed
     */
    protected abstract long withdraw(int start);

    /**
     * Ends a retired block.
     *
     * @param retired what {@link #withdraw} answered
     * @return its size in granules
     */
    protected abstract long endRetired(long retired);

    /**
     * Puts a retired block in use again.
     *
     * @param retired what {@link #withdraw} answered
     */
    protected abstract void readmit(long retired);

    /**
     * Tells where a retired block starts.
     *
     * @param retired what {@link #withdraw} answered
     * @return granules from the start of the region
     */
    protected abstract long retiredStart(long retired);

    /**
     * Tells the size of a retired block.
     *
     * @param retired what {@link #withdraw} answered
     * @return granules
     */
    protected abstract long retiredSize(long retired);

    /**
     * Tells the size of a block in use.
     *
     * @param start granules from the start of the region, unsigned; any int
     * @return granules, or 0 if no block in use starts there
     */
    protected abstract long sizeAt(int start);

    /**
     * Ends a block earlier; what is cut off becomes free.
     *
     * @param start where the block starts
     * @param size its size in granules
     * @param newSize what it keeps, in granules, as {@link #blockSize} answered; less than {@code size}
     */
    protected abstract void shrink(int start, long size, long newSize);

    /**
     * Ends a block later, if what follows is free.
     *
     * @param start where the block starts
     * @param size its size in granules
     * @param newSize what it is to have, in granules, as {@link #blockSize} answered; more than {@code size}
     * @return false if there is no room and nothing changed
     */
    protected abstract boolean grow(int start, long size, long newSize);

    /**
     * Tells the size of the block that serves a request. A strategy that can't make blocks of every size says so here.
     *
     * @param size what is asked for, in granules, from 1 to those of the region
     * @return granules, at least {@code size}; may be more than the region has
     */
    protected long blockSize(final long size) {
        return size;
    }

    // What it gets

    /** {@return whole granules in the region, from 1 to 2^32 - 1} */
    protected final long granules() {
        return regionBytes >>> granuleLog2;
    }

    /**
     * Computes the distance from an offset to the first aligned address at or after it.
     *
     * @param start granules from the start of the region
     * @param alignmentMask an aligned address, counted in granules, has none of these bits
     * @return granules, from 0 to {@code alignmentMask}
     */
    protected final long padding(final long start, final long alignmentMask) {
        return -((regionAddress >>> granuleLog2) + start) & alignmentMask;
    }

    /**
     * Shows a block.
     *
     * @param visitor sees it
     * @param start granules from the start of the region
     * @param size granules
     * @param free whether it is
     */
    protected final void show(final BlockVisitor visitor, final long start, final long size, final boolean free) {
        visitor.visit(address(start), bytes(size), free);
    }

    /**
     * Computes the address of an offset.
     *
     * @param start granules from the start of the region
     * @return absolute device address
     */
    protected final long address(final long start) {
        return regionAddress + (start << granuleLog2);
    }

    /**
     * Notes that free memory was taken, or that memory became free, in another way than by the methods that a subclass
     * overrides.
     *
     * @param size granules, negative if they were taken
     */
    protected final void addFree(final long size) {
        freeGranules += size;
    }

    /**
     * {@return granules as bytes}
     *
     * @param size granules
     */
    protected final long bytes(final long size) {
        return size << granuleLog2;
    }

    /**
     * {@return what a call is refused with, not thrown}
     *
     * @param address which names no block in use
     */
    protected InvalidAddressException invalid(final long address) {
        return InvalidAddressException.of(this, address);
    }

    // The contract

    @Override
    public final long allocate(final long sizeBytes) {
        if (sizeBytes <= 0 || sizeBytes > regionBytes) {
            Arguments.checkSize(sizeBytes);
            return NO_SPACE;
        }
        final long size = blockSize((sizeBytes + granuleMask) >>> granuleLog2);
        return taken(place(size), size);
    }

    @Override
    public final long allocate(final long sizeBytes, final long alignmentBytes) {
        Arguments.checkSize(sizeBytes);
        Arguments.checkAlignment(alignmentBytes);
        if (alignmentBytes - 1 <= granuleMask) {
            return allocate(sizeBytes);
        }
        if (sizeBytes > regionBytes) {
            return NO_SPACE;
        }
        final long size = blockSize((sizeBytes + granuleMask) >>> granuleLog2);
        return taken(placeAligned(size, (alignmentBytes >>> granuleLog2) - 1), size);
    }

    private long taken(final long start, final long size) {
        if (start == NO_SPACE) {
            return NO_SPACE;
        }
        freeGranules -= size;
        return address(start);
    }

    @Override
    public final void free(final long address) {
        final long size = end(startOf(address));
        if (size == 0) {
            throw invalid(address);
        }
        freeGranules += size;
    }

    @Override
    public final long retire(final long address) {
        final long retired = withdraw(startOf(address));
        if (retired == NO_BLOCK) {
            throw invalid(address);
        }
        return retired;
    }

    @Override
    public final long release(final long retired) {
        final long size = endRetired(retired);
        freeGranules += size;
        return bytes(size);
    }

    @Override
    public final long restore(final long retired) {
        final long address = retiredAddress(retired);
        readmit(retired);
        return address;
    }

    @Override
    public final long retiredBytes(final long retired) {
        return bytes(retiredSize(retired));
    }

    @Override
    public final long retiredAddress(final long retired) {
        return address(retiredStart(retired));
    }

    @Override
    public final void trim(final long address, final long newSizeBytes) {
        final int start = startOf(address);
        final long size = checkedSizeAt(start, address);
        Arguments.checkTrim(newSizeBytes, bytes(size));
        final long newSize = blockSize((newSizeBytes + granuleMask) >>> granuleLog2);
        if (newSize < size) {
            shrink(start, size, newSize);
            freeGranules += size - newSize;
        }
    }

    @Override
    public final boolean extend(final long address, final long newSizeBytes) {
        final int start = startOf(address);
        final long size = checkedSizeAt(start, address);
        if (newSizeBytes > regionBytes) {
            return false;
        }
        final long newSize = newSizeBytes <= 0 ? 0 : blockSize((newSizeBytes + granuleMask) >>> granuleLog2);
        if (newSize < size) {
            throw Arguments.lessThanTheBlock(newSizeBytes, bytes(size));
        }
        if (newSize > size) {
            if (!grow(start, size, newSize)) {
                return false;
            }
            freeGranules -= newSize - size;
        }
        return true;
    }

    @Override
    public final long sizeOf(final long address) {
        return bytes(checkedSizeAt(startOf(address), address));
    }

    @Override
    public final Region region() {
        return region;
    }

    @Override
    public final long granuleBytes() {
        return granuleMask + 1;
    }

    @Override
    public final long freeBytes() {
        return bytes(freeGranules);
    }

    private long checkedSizeAt(final int start, final long address) {
        final long size = sizeAt(start);
        if (size == 0) {
            throw invalid(address);
        }
        return size;
    }

    /**
     * Computes the offset of an address.
     *
     * @param address any
     * @return granules from the start of the region, unsigned
     * @throws InvalidAddressException unless it is a multiple of the granule less than 2^32; it may lie behind the
     *     region
     */
    protected final int startOf(final long address) {
        // Rotating moves the bits below a granule to the top, so one test covers both ends and the granule.
        final long start = Long.rotateRight(address - regionAddress, granuleLog2);
        if (start >>> 32 != 0) {
            throw invalid(address);
        }
        return (int) start;
    }

    @Override
    public final String toString() {
        return Descriptions.of(this);
    }
}
