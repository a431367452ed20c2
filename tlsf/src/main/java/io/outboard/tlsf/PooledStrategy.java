package io.outboard.tlsf;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.FreeBlockVisitor;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Region;
import io.outboard.core.SlabStrategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.spi.Arguments;
import io.outboard.core.spi.Descriptions;

/**
 * This strategy has object pools for sizes up to a page of 4 KiB, and another strategy, the <em>backing</em>, for
 * everything else: Bell, Kumar and Gill (2024), section V-C.
 *
 * <p>Each multiple of the granule up to a page is a class of its own, so nothing is lost to rounding beyond the
 * granule. A slab is a block of the backing, divided into 64 slots of one class; one word says which are free. Slabs
 * start at multiples of 64 pages, so the high bits of an address name its slab: no records, no hash table.
 *
 * <ol>
 *   <li><b>allocate</b>, up to a page, takes the first free slot of the first slab of its class that has one, or of a
 *       new slab. Larger sizes go to the backing; so do small ones if the backing has no room to make a slab, and then
 *       the next 63 that would need one.
 *   <li><b>free</b> asks the window of the address whether a slab is there. If so, it sets the slot's bit; if not, the
 *       backing frees the block. <b>retire</b> sets a bit in a second word; a slab with such a slot isn't empty.
 *   <li>A slab that becomes empty goes back to the backing, but for one in each class, so that taking and freeing a
 *       single block doesn't take and give back a slab each time. These are kept until the backing can't serve a
 *       request, or nothing is in use at all, and count as free memory everywhere.
 * </ol>
 *
 * <p>The paper proposes pools for sizes up to a page beside segregated lists, and no more; section III-B suggests
 * bitmasks for pools. Classes, slabs and windows are ours.
 *
 * <p>What differs from strategies that divide a region block by block:
 *
 * <ul>
 *   <li>A slot keeps its size: {@link #trim} changes nothing, {@link #extend} grants what the slot has already.
 *   <li>Free slots serve their class alone, until their slab is empty. So {@link #forEachBlock} shows them as free
 *       blocks that don't merge with free memory outside of their slab, and {@link #NO_SPACE} can be the answer to a
 *       small request while slots of other classes are free.
 *   <li>An alignment above the granule is served by a slot if the slot's size is a multiple of it, else by the backing.
 *   <li>Slabs start at multiples of 64 pages, so that small blocks spread over the region:
 *       64 slots of 256 bytes leave 240 KiB behind them to larger blocks.
 * </ul>
 *
 * <p>Thread-safety: confined to one thread. Cost: O(1) for small sizes, plus two calls of the backing for a slab now
 * and then; for large sizes one comparison and, to free, one array element on top of the backing's cost. Host memory:
 * 28 bytes for each 256 KiB of the region, 7 MiB at most, and what the backing takes; 64 small blocks are one or two of
 * its {@link StrategyOptions#maxBlocks}. When nothing fits, the strategy returns {@link #NO_SPACE}, but not before all
 * empty slabs went back to the backing.
 */
public final class PooledStrategy implements PartRetiringStrategy, SlabStrategy {

    /**
     * The objects of a slab: a vain search for an aligned range, the most costly thing here, then comes with one block
     * in 64.
     */
    private static final int SKIPPED_SLABS = Slabs.SLOTS - 1;

    private final PartRetiringStrategy backing;
    private final Slabs slabs;
    private final long granuleMask;
    private final int granuleLog2;
    private final long slotLimitBytes;
    private final SlabWalk walk;

    /** The number of requests that don't ask the backing for a slab. */
    private int slabsToSkip;

    /** The bytes that the backing gave for slabs. */
    private long slabBytes;

    /**
     * Puts pools in front of a strategy.
     *
     * @param backing serves what pools don't, and slabs; nothing else may use it from now on
     */
    public PooledStrategy(final PartRetiringStrategy backing) {
        this.backing = backing;
        granuleMask = backing.granuleBytes() - 1;
        granuleLog2 = Long.numberOfTrailingZeros(backing.granuleBytes());
        slabs = new Slabs(backing.region(), backing.granuleBytes());
        slotLimitBytes = slabs.slotLimitBytes();
        walk = new SlabWalk(slabs);
    }

    @Override
    public long allocate(final long sizeBytes) {
        if (sizeBytes > slotLimitBytes) {
            return allocateBehind(sizeBytes, 1);
        }
        Arguments.checkSize(sizeBytes);
        return allocateSlot(sizeBytes, 1);
    }

    @Override
    public long allocate(final long sizeBytes, final long alignmentBytes) {
        Arguments.checkSize(sizeBytes);
        Arguments.checkAlignment(alignmentBytes);
        final boolean aligned = ((sizeBytes + granuleMask) & ~granuleMask & (alignmentBytes - 1)) == 0;
        return aligned && sizeBytes <= slotLimitBytes
                ? allocateSlot(sizeBytes, alignmentBytes)
                : allocateBehind(sizeBytes, alignmentBytes);
    }

    private long allocateSlot(final long sizeBytes, final long alignmentBytes) {
        final int slotClass = (int) ((sizeBytes + granuleMask) >>> granuleLog2);
        int slab = slabs.withFreeSlot(slotClass);
        if (slab == Slabs.NONE) {
            slab = newSlab(slotClass);
        }
        if (slab != Slabs.NONE) {
            return slabs.take(slab);
        }
        final long address = allocateBehind(sizeBytes, alignmentBytes);
        if (address == NO_SPACE) {
            startAnewIfAllIsFree();
        }
        return address;
    }

    private int newSlab(final int slotClass) {
        if (slabsToSkip > 0) {
            slabsToSkip--;
            return Slabs.NONE;
        }
        final long freeBefore = backing.freeBytes() + slabBytes;
        long address;
        try {
            address = allocateBehind(((long) slotClass * Slabs.SLOTS) << granuleLog2, slabs.windowBytes());
        } catch (final BlockTableFullException full) {
            // A slab takes up to three blocks, while the small block may be an exact fit.
            address = NO_SPACE;
        }
        if (address == NO_SPACE) {
            slabsToSkip = SKIPPED_SLABS;
            return Slabs.NONE;
        }
        slabBytes = freeBefore - backing.freeBytes();
        return slabs.add(address, slotClass);
    }

    /** Serves small blocks as if there were no room for slabs: from the backing, as many as a slab would serve. */
    @Override
    public void makeDo() {
        giveBackEmptySlabs();
        slabsToSkip = SKIPPED_SLABS;
    }

    private long allocateBehind(final long sizeBytes, final long alignmentBytes) {
        try {
            final long address = backing.allocate(sizeBytes, alignmentBytes);
            if (address != NO_SPACE || sizeBytes > freeBytes() || !giveBackEmptySlabs()) {
                return address;
            }
        } catch (final BlockTableFullException full) {
            if (!giveBackEmptySlabs()) {
                throw full;
            }
        }
        return backing.allocate(sizeBytes, alignmentBytes);
    }

    @Override
    public void free(final long address) {
        final int slab = slabs.holding(address);
        if (slab == Slabs.NONE) {
            backing.free(address);
        } else if (slabs.release(slab, usedSlotAt(slab, address))) {
            giveBack(slab);
        }
        startAnewIfAllIsFree();
    }

    private void startAnewIfAllIsFree() {
        if (backing.liveBlocks() == slabs.emptyCount()) {
            // Nothing is in use, so the strategy goes on as a new one would.
            giveBackEmptySlabs();
            slabsToSkip = 0;
        }
    }

    @Override
    public long retire(final long address) {
        final int slab = slabs.holding(address);
        if (slab == Slabs.NONE) {
            return backing.retire(address) << 1;
        }
        final int slot = usedSlotAt(slab, address);
        slabs.retire(slab, slot);
        return Slabs.nameOf(slab, slot);
    }

    @Override
    public long retireTail(final long address, final long newSizeBytes) {
        if (slabs.holding(address) != Slabs.NONE) {
            trim(address, newSizeBytes);
            return NO_TAIL;
        }
        final long tail = backing.retireTail(address, newSizeBytes);
        return tail == NO_TAIL ? NO_TAIL : tail << 1;
    }

    /**
     * Gives empty slabs back first, so that they are free blocks. Slabs with free slots aren't: what is in them stays.
     */
    @Override
    public void forEachFree(final long leastBytes, final FreeBlockVisitor visitor) {
        giveBackEmptySlabs();
        backing.forEachFree(leastBytes, visitor);
    }

    @Override
    public long retireFree(final long block, final long address, final long sizeBytes) {
        return nameOf(backing.retireFree(block, address, sizeBytes));
    }

    @Override
    public long splitRetired(final long retired, final long sizeBytes) {
        return nameOf(backing.splitRetired(retired >>> 1, sizeBytes));
    }

    @Override
    public void joinRetired(final long retired, final long next) {
        backing.joinRetired(retired >>> 1, next >>> 1);
    }

    private static long nameOf(final long retired) {
        return retired == NO_SPACE ? NO_SPACE : retired << 1;
    }

    @Override
    public long release(final long retired) {
        final long sizeBytes;
        if (Slabs.namesSlot(retired)) {
            final int slab = Slabs.slabNamed(retired);
            sizeBytes = slabs.slotBytes(slab);
            if (slabs.releaseRetired(slab, Slabs.slotNamed(retired))) {
                giveBack(slab);
            }
        } else {
            sizeBytes = backing.release(retired >>> 1);
        }
        startAnewIfAllIsFree();
        return sizeBytes;
    }

    @Override
    public long restore(final long retired) {
        if (!Slabs.namesSlot(retired)) {
            return backing.restore(retired >>> 1);
        }
        final long address = retiredAddress(retired);
        slabs.readmit(Slabs.slabNamed(retired), Slabs.slotNamed(retired));
        return address;
    }

    @Override
    public long retiredBytes(final long retired) {
        return Slabs.namesSlot(retired)
                ? slabs.slotBytes(Slabs.slabNamed(retired))
                : backing.retiredBytes(retired >>> 1);
    }

    @Override
    public long retiredAddress(final long retired) {
        return Slabs.namesSlot(retired)
                ? slabs.slotAddress(Slabs.slabNamed(retired), Slabs.slotNamed(retired))
                : backing.retiredAddress(retired >>> 1);
    }

    /**
     * Gives back the empty slabs, if there are any: the backing may find room there for what it couldn't serve.
     */
    private boolean giveBackEmptySlabs() {
        final boolean any = slabs.emptyCount() != 0;
        for (int slotClass = 1; slabs.emptyCount() != 0; slotClass++) {
            final int slab = slabs.emptyOf(slotClass);
            if (slab != Slabs.NONE) {
                giveBack(slab);
            }
        }
        return any;
    }

    private void giveBack(final int slab) {
        final long freeBefore = backing.freeBytes();
        slabs.remove(slab);
        backing.free(slabs.address(slab));
        slabBytes -= backing.freeBytes() - freeBefore;
    }

    /**
     * {@inheritDoc}
     *
     * <p>A block of up to a page is usually a slot, which keeps its size: then nothing changes.
     */
    @Override
    public void trim(final long address, final long newSizeBytes) {
        final int slab = slabs.holding(address);
        if (slab != Slabs.NONE) {
            usedSlotAt(slab, address);
            Arguments.checkTrim(newSizeBytes, slabs.slotBytes(slab));
            return;
        }
        try {
            backing.trim(address, newSizeBytes);
        } catch (final BlockTableFullException full) {
            if (!giveBackEmptySlabs()) {
                throw full;
            }
            backing.trim(address, newSizeBytes);
        }
    }

    /**
     * {@inheritDoc}
     *
     * <p>A block of up to a page is usually a slot, which keeps its size: then only a size that rounds up to that is
     * granted.
     */
    @Override
    public boolean extend(final long address, final long newSizeBytes) {
        final int slab = slabs.holding(address);
        if (slab == Slabs.NONE) {
            return backing.extend(address, newSizeBytes)
                    || (giveBackEmptySlabs() && backing.extend(address, newSizeBytes));
        }
        usedSlotAt(slab, address);
        final int slotBytes = slabs.slotBytes(slab);
        if (newSizeBytes < slotBytes - granuleMask) {
            throw Arguments.lessThanTheBlock(newSizeBytes, slotBytes);
        }
        return newSizeBytes <= slotBytes;
    }

    @Override
    public long sizeOf(final long address) {
        final int slab = slabs.holding(address);
        if (slab == Slabs.NONE) {
            return backing.sizeOf(address);
        }
        usedSlotAt(slab, address);
        return slabs.slotBytes(slab);
    }

    private int usedSlotAt(final int slab, final long address) {
        final int slot = slabs.usedSlotAt(slab, address);
        if (slot == Slabs.NONE) {
            throw InvalidAddressException.of(this, address);
        }
        return slot;
    }

    @Override
    public Region region() {
        return backing.region();
    }

    @Override
    public long granuleBytes() {
        return granuleMask + 1;
    }

    @Override
    public long freeBytes() {
        return backing.freeBytes() + slabBytes - slabs.usedBytes();
    }

    @Override
    public int liveBlocks() {
        return backing.liveBlocks() - slabs.count() + slabs.usedSlots();
    }

    @Override
    public long hostBytes() {
        return backing.hostBytes() + slabs.hostBytes();
    }

    @Override
    public void forEachBlock(final BlockVisitor visitor) {
        walk.show(backing, true, visitor);
    }

    @Override
    public void forEachUndivided(final BlockVisitor visitor) {
        walk.show(backing, false, visitor);
    }

    @Override
    public String toString() {
        return Descriptions.of(this);
    }
}
